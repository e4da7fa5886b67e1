// Exact sums over all pairs of a layout, for descents.
#define TILE 256
// Student's repulsion: out = (sum_j w^2 (y_i - y_j), sum_j w) with w = 1 / (1 + |y_i - y_j|^2), j != i, up to 3 columns.
// One point a thread; columns of pairs from blockIdx.y * span, partial sums out[y][n][4].
extern "C" __global__ void __launch_bounds__(TILE) student_sums(const double *Y, int n, int columns, int span, double *out)
{
    __shared__ double S[3][TILE];
    int i = blockIdx.x * TILE + threadIdx.x, first = blockIdx.y * span, last = min(n, first + span);
    double y[3], g[3] = {0, 0, 0}, mass = 0;
    for (int c = 0; c < 3; c++) y[c] = c < columns && i < n ? Y[(long long)i * columns + c] : 0;
    for (int k = first; k < last; k += TILE) {
        __syncthreads();
        int j = k + threadIdx.x;
        for (int c = 0; c < 3; c++) S[c][threadIdx.x] = c < columns && j < last ? Y[(long long)j * columns + c] : 0;
        __syncthreads();
        for (int t = 0; t < min(TILE, last - k); t++) {
            double a = y[0] - S[0][t], b = y[1] - S[1][t], c = y[2] - S[2][t], w = k + t == i ? 0 : 1 / (1 + a * a + b * b + c * c);
            mass += w;
            w *= w;
            g[0] += w * a;
            g[1] += w * b;
            g[2] += w * c;
        }
    }
    if (i >= n) return;
    double *o = out + ((long long)blockIdx.y * n + i) * 4;
    o[0] = g[0];
    o[1] = g[1];
    o[2] = g[2];
    o[3] = mass;
}
// Sums of raw stress, all weights 1: out = (sum_j (delta_ij / d_ij) (y_i - y_j), sum_j delta_ij d_ij, sum_j d_ij^2,
// sum_j (delta_ij - d_ij)^2); delta is symmetric, so that threads read a row of it side by side. As above else, out[y][n][6].
template <typename T>
static __device__ __forceinline__ void stress_sums(const T *delta, const double *Y, int n, int columns, int span, double *out)
{
    __shared__ double S[3][TILE];
    int i = blockIdx.x * TILE + threadIdx.x, first = blockIdx.y * span, last = min(n, first + span);
    double y[3], g[3] = {0, 0, 0}, rho = 0, eta = 0, stress = 0;
    for (int c = 0; c < 3; c++) y[c] = c < columns && i < n ? Y[(long long)i * columns + c] : 0;
    for (int k = first; k < last; k += TILE) {
        __syncthreads();
        int j = k + threadIdx.x;
        for (int c = 0; c < 3; c++) S[c][threadIdx.x] = c < columns && j < last ? Y[(long long)j * columns + c] : 0;
        __syncthreads();
        if (i < n)
            for (int t = 0; t < min(TILE, last - k); t++) {
                double a = y[0] - S[0][t], b = y[1] - S[1][t], c = y[2] - S[2][t], s = a * a + b * b + c * c, d = sqrt(s);
                double wanted = (double)delta[(long long)(k + t) * n + i], ratio = s > 0 ? wanted / d : 0;
                rho += wanted * d;
                eta += s;
                stress += (wanted - d) * (wanted - d);
                g[0] += ratio * a;
                g[1] += ratio * b;
                g[2] += ratio * c;
            }
    }
    if (i >= n) return;
    double *o = out + ((long long)blockIdx.y * n + i) * 6;
    for (int c = 0; c < 3; c++) o[c] = g[c];
    o[3] = rho;
    o[4] = eta;
    o[5] = stress;
}
extern "C" __global__ void __launch_bounds__(TILE) stress_sums_f32(const float *delta, const double *Y, int n, int columns, int span, double *out)
{
    stress_sums(delta, Y, n, columns, span, out);
}
extern "C" __global__ void __launch_bounds__(TILE) stress_sums_f64(const double *delta, const double *Y, int n, int columns, int span, double *out)
{
    stress_sums(delta, Y, n, columns, span, out);
}
