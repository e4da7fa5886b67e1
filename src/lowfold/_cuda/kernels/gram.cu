// part = f(D) V for a matrix D and 8 vectors, D streamed through shared memory once, 32 rows a block, sums in float64.
// f squares scale * d + shift off the diagonal (the diagonal keeps scale * d), or takes scale * d as it is.
#define STAGES 4
#define CHUNK 128
// Vt: 8 x ld (transposed, zero beyond n), ld a multiple of CHUNK. Columns from blockIdx.y * span; partial sums part[y][n][8].
// diagonal: row i belongs to column i.
template <typename E>
static __device__ __forceinline__ void times(const E *D, long long ld, int n, const double *Vt, int span, int square, double scale, double shift, int diagonal, double *part)
{
    DYNAMIC_SHARED(unsigned char, memory);
    constexpr int DB = 32 * CHUNK * (int)sizeof(E), VB = 8 * CHUNK * 8, PER = 16 / (int)sizeof(E), LINE = CHUNK / PER;
    int tid = threadIdx.x, w = tid >> 5, lane = tid & 31, r0 = blockIdx.x * 32;
    long long c0 = (long long)blockIdx.y * span;
    int total = (int)((min(c0 + span, ld) - c0 + CHUNK - 1) / CHUNK);
    double sum[4][8];
#pragma unroll
    for (int r = 0; r < 32; r++) sum[r >> 3][r & 7] = 0;
    auto load = [&](int it) {
        if (it < total) {
            unsigned char *to = memory + (it % STAGES) * (DB + VB);
            long long c = c0 + (long long)it * CHUNK;
#pragma unroll
            for (int u = 0; u < 32 * LINE / 256; u++) {
                int i = tid + 256 * u, r = i / LINE, k = PER * (i % LINE);
                copy16(to + (r * CHUNK + k) * sizeof(E), D + (long long)min(r0 + r, n - 1) * ld + c + k);
            }
            for (int i = tid; i < VB / 16; i += 256) copy16(to + DB + i * 16, Vt + (long long)(i / (CHUNK / 2)) * ld + c + 2 * (i % (CHUNK / 2)));
        }
        copy_commit();
    };
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) load(i);
    for (int it = 0; it < total; it++) {
        copy_wait<STAGES - 2>();
        __syncthreads();
        load(it + STAGES - 1);
        const E *Ds = (const E *)(memory + (it % STAGES) * (DB + VB)) + 4 * w * CHUNK;
        const double *Vs = (const double *)(memory + (it % STAGES) * (DB + VB) + DB);
#pragma unroll
        for (int t = 0; t < CHUNK / 32; t++) {
            int k = lane + 32 * t;
            long long column = c0 + (long long)it * CHUNK + k;
            double d[4];
#pragma unroll
            for (int r = 0; r < 4; r++) {
                bool own = diagonal && column == r0 + 4 * w + r;
                d[r] = (double)Ds[r * CHUNK + k] * scale;
                if (square) {
                    d[r] = shift != 0 && own ? 0 : d[r] + shift;
                    d[r] *= d[r];
                }
            }
#pragma unroll
            for (int c = 0; c < 8; c++) {
                double v = Vs[c * CHUNK + k];
#pragma unroll
                for (int r = 0; r < 4; r++) sum[r][c] += d[r] * v;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 8; c++) {
            double s = warp_sum(sum[r][c]);
            int row = r0 + 4 * w + r;
            if (lane == 0 && row < n) part[((long long)blockIdx.y * n + row) * 8 + c] = s;
        }
}
extern "C" __global__ void __launch_bounds__(256, 2) times_labels(const int *D, long long ld, int n, const double *Vt, int span, int square, double scale, double shift, int diagonal, double *part)
{
    times(D, ld, n, Vt, span, square, scale, shift, diagonal, part);
}
extern "C" __global__ void __launch_bounds__(256, 2) times_floats(const float *D, long long ld, int n, const double *Vt, int span, int square, double scale, double shift, int diagonal, double *part)
{
    times(D, ld, n, Vt, span, square, scale, shift, diagonal, part);
}
extern "C" __global__ void __launch_bounds__(256, 1) times_doubles(const double *D, long long ld, int n, const double *Vt, int span, int square, double scale, double shift, int diagonal, double *part)
{
    times(D, ld, n, Vt, span, square, scale, shift, diagonal, part);
}
