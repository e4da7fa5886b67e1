// Sparse Cholesky in float64 on the fronts of a nested dissection, one level at a time. A front is (nx + ns)^2, the node's
// own columns first; only its lower triangle counts. Diagonal blocks of BLOCK columns keep L below and, above the diagonal,
// the transpose of inv(L): solving is products only, and the inverse of a small triangle is harmless.
// Nothing is added by atomics: children go to their parent left first, then right, so that last bits are always the same.
#ifndef BLOCK
#define BLOCK 128
#endif
#define ROWS_A 68
#define ROWS_B (BLOCK + 4)

extern "C" __global__ void extend_add(const double *child, double *parent, const long long *child_off, const long long *parent_off, const int *nx, const int *ns,
                                      const long long *bptr, const int *pos, int first, int parity)
{
    int c = first + 2 * blockIdx.x + parity, p = (c - 1) >> 1;
    int s = ns[c], x = nx[c], f = x + s, g = nx[p] + ns[p];
    const double *C = child + child_off[c];
    double *P = parent + parent_off[p];
    const int *q = pos + bptr[c];
    int lane = threadIdx.x & 31, w = (blockIdx.y * blockDim.x + threadIdx.x) >> 5, warps = gridDim.y * blockDim.x >> 5;
    for (int a = w; a < s; a += warps) {
        const double *from = C + (long long)(x + a) * f + x;
        int qa = q[a];
        for (int b = lane; b <= a; b += 32) {
            int qb = q[b];
            P[(long long)max(qa, qb) * g + min(qa, qb)] += from[b];
        }
    }
}

// L and inv(L) of the m leading columns of a matrix in shared memory; rows r < f are scaled and updated, too.
// A pivot that rounding has pushed below `least` is raised to it.
static __device__ __forceinline__ void factor_shared(double *M, int ld, int m, int f, double least)
{
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (int k = 0; k < m; k++) {
        double pivot = sqrt(fmax(M[k * ld + k], least)), d = 1.0 / pivot;
        __syncthreads();
        for (int r = k + threadIdx.x; r < f; r += blockDim.x) M[r * ld + k] = r == k ? pivot : M[r * ld + k] * d;
        __syncthreads();
        for (int i = k + 1 + w; i < f; i += warps) {
            double a = M[i * ld + k];
            for (int c = k + 1 + lane; c <= i; c += 32) M[i * ld + c] -= a * M[c * ld + k];
        }
        __syncthreads();
    }
    for (int c = w; c < m; c += warps) {  // column c of inv(L) by one warp, kept at M[c][r], r > c
        double own = 1.0 / M[c * ld + c];
        for (int r = c + 1; r < m; r++) {
            double s = 0;
            for (int k = c + lane; k < r; k += 32) s += M[r * ld + k] * (k == c ? own : M[c * ld + k]);
            s = warp_sum(s);
            if (lane == 0) M[c * ld + r] = -s / M[r * ld + r];
            __syncwarp();
        }
    }
    __syncthreads();
}
extern "C" __global__ void __launch_bounds__(512) factor_small(double *front, const long long *off, const int *nx, const int *ns, int first, int most, double least)
{
    DYNAMIC_SHARED(double, M);
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j], ld = f | 1;
    if (f > most || x > BLOCK || x == 0) return;
    double *G = front + off[j];
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (int r = w; r < f; r += warps)
        for (int c = lane; c < f; c += 32) M[r * ld + c] = c <= r ? G[(long long)r * f + c] : 0;
    __syncthreads();
    factor_shared(M, ld, x, f, least);
    for (int r = w; r < f; r += warps)
        for (int c = lane; c < f; c += 32) G[(long long)r * f + c] = M[r * ld + c];
}
extern "C" __global__ void __launch_bounds__(512) factor_pivots(double *front, const long long *off, const int *nx, const int *ns, int first, int k0, int most, double least)
{
    DYNAMIC_SHARED(double, A);
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j];
    if (k0 >= x || (f <= most && x <= BLOCK)) return;
    int b = min(BLOCK, x - k0), ld = b | 1, lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    double *G = front + off[j] + (long long)k0 * f + k0;
    for (int r = w; r < b; r += 16)
        for (int c = lane; c < b; c += 32) A[r * ld + c] = c <= r ? G[(long long)r * f + c] : 0;
    __syncthreads();
    factor_shared(A, ld, b, b, least);
    for (int r = w; r < b; r += 16)
        for (int c = lane; c < b; c += 32) G[(long long)r * f + c] = A[r * ld + c];
}
// Rows below the block: P = M inv(L)'
extern "C" __global__ void __launch_bounds__(2 * BLOCK) factor_panel(double *front, const long long *off, const int *nx, const int *ns, int first, int k0, int most)
{
    DYNAMIC_SHARED(double, memory);
    double *A = memory, *B = memory + 32 * ROWS_A;  // A[32][ROWS_A], B[32][ROWS_B]
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j];
    if (k0 >= x || (f <= most && x <= BLOCK)) return;
    int b = min(BLOCK, x - k0), r0 = k0 + b + blockIdx.y * 64;
    if (r0 >= f) return;
    int tid = threadIdx.x, lane = tid & 31, w = tid >> 5, q = lane >> 2, t = lane & 3, wr = (w & 1) * 32, wc = (w >> 1) * 32;
    double *G = front + off[j], o[4][4][2];
#pragma unroll
    for (int p = 0; p < 32; p++) o[p >> 3][(p >> 1) & 3][p & 1] = 0;
    for (int kc = 0; kc < b; kc += 32) {
        __syncthreads();
        for (int i = tid; i < 2048; i += 2 * BLOCK) {
            int r = i >> 5, c = i & 31;
            A[c * ROWS_A + r] = (r0 + r < f && kc + c < b) ? G[(long long)(r0 + r) * f + k0 + kc + c] : 0;
        }
        for (int i = tid; i < 32 * BLOCK; i += 2 * BLOCK) {  // inv(L)[c][k], k <= c, lies at (k, c)
            int k = kc + i / BLOCK, c = i % BLOCK;
            double v = (k < b && c < b && k <= c) ? G[(long long)(k0 + k) * f + k0 + c] : 0;
            B[(i / BLOCK) * ROWS_B + c] = k == c && k < b ? 1.0 / v : v;
        }
        __syncthreads();
        if (wc + 31 >= kc && wc < b)
#pragma unroll
            for (int ks = 0; ks < 8; ks++) {
                double a[4], d[4];
#pragma unroll
                for (int p = 0; p < 4; p++) {
                    a[p] = A[(4 * ks + t) * ROWS_A + wr + 8 * p + q];
                    d[p] = B[(4 * ks + t) * ROWS_B + wc + 8 * p + q];
                }
#pragma unroll
                for (int p = 0; p < 16; p++) mma_f64(o[p >> 2][p & 3], a[p >> 2], d[p & 3]);
            }
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 32; p++) {
        int r = r0 + wr + 8 * (p >> 3) + q, c = wc + 8 * ((p >> 1) & 3) + 2 * t + (p & 1);
        if (r < f && c < b) G[(long long)r * f + k0 + c] = o[p >> 3][(p >> 1) & 3][p & 1];
    }
}
// The rest, lower triangle in tiles of 64 x 64: M -= P P'
extern "C" __global__ void __launch_bounds__(256) factor_rest(double *front, const long long *off, const int *nx, const int *ns, int first, int k0, int most)
{
    __shared__ double A[32][ROWS_A], B[32][ROWS_A];
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j];
    if (k0 >= x || (f <= most && x <= BLOCK)) return;
    int b = min(BLOCK, x - k0), r0 = k0 + b + blockIdx.y * 64, c0 = k0 + b + blockIdx.z * 64;
    if (r0 >= f || c0 > r0) return;
    int tid = threadIdx.x, lane = tid & 31, w = tid >> 5, wr = (w & 1) * 32, wc = (w >> 1) * 16, q = lane >> 2, t = lane & 3;
    double *G = front + off[j], o[4][2][2];
#pragma unroll
    for (int p = 0; p < 16; p++) o[p >> 2][(p >> 1) & 1][p & 1] = 0;
    for (int kc = 0; kc < b; kc += 32) {
        __syncthreads();
        for (int i = tid; i < 2048; i += 256) {
            int r = i >> 5, c = i & 31;
            A[c][r] = (r0 + r < f && kc + c < b) ? G[(long long)(r0 + r) * f + k0 + kc + c] : 0;
            B[c][r] = (c0 + r < f && kc + c < b) ? G[(long long)(c0 + r) * f + k0 + kc + c] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int ks = 0; ks < 8; ks++) {
            double a[4], d[2];
#pragma unroll
            for (int p = 0; p < 4; p++) a[p] = A[4 * ks + t][wr + 8 * p + q];
#pragma unroll
            for (int s = 0; s < 2; s++) d[s] = B[4 * ks + t][wc + 8 * s + q];
#pragma unroll
            for (int p = 0; p < 8; p++) mma_f64(o[p >> 1][p & 1], a[p >> 1], d[p & 1]);
        }
    }
#pragma unroll
    for (int p = 0; p < 16; p++) {
        int r = r0 + wr + 8 * (p >> 2) + q, c = c0 + wc + 8 * ((p >> 1) & 1) + 2 * t + (p & 1);
        if (r < f && c <= r) G[(long long)r * f + c] -= o[p >> 2][(p >> 1) & 1][p & 1];
    }
}
// The node's own columns, which are the factor: kept[r][c], r < f, c < nx
extern "C" __global__ void keep_columns(const double *front, const long long *off, const int *nx, const int *ns, const long long *kept_off, int first, double *kept)
{
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j];
    const double *G = front + off[j];
    double *K = kept + kept_off[j];
    int lane = threadIdx.x & 31, w = (blockIdx.y * blockDim.x + threadIdx.x) >> 5, warps = gridDim.y * blockDim.x >> 5;
    for (int r = w; r < f; r += warps)
        for (int c = lane; c < x; c += 32) K[(long long)r * x + c] = G[(long long)r * f + c];
}

// ---- solving with 8 right-hand sides; b is (n, 8) in the tree's order; every node of a level has its own rows in `work`
// (nx + ns of them from work_off[j]), so that nothing is shared.
extern "C" __global__ void load_rows(const double *b, const long long *work_off, const int *start, const int *nx, const int *ns, const long long *bptr, const int *bidx, int first,
                                     int boundary, double *work)
{
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j];
    double *W = work + work_off[j] * 8;
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < f * 8; i += gridDim.y * blockDim.x) {
        int r = i >> 3;
        if (r < x)
            W[i] = b[(long long)start[j] * 8 + i];
        else
            W[i] = boundary ? b[(long long)bidx[bptr[j] + r - x] * 8 + (i & 7)] : 0;
    }
}
extern "C" __global__ void store_rows(const double *work, const long long *work_off, const int *start, const int *nx, int first, double *b)
{
    int j = first + blockIdx.x;
    const double *W = work + work_off[j] * 8;
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < nx[j] * 8; i += gridDim.y * blockDim.x) b[(long long)start[j] * 8 + i] = W[i];
}
extern "C" __global__ void extend_rows(const double *child, double *parent, const long long *child_off, const long long *parent_off, const int *nx, const int *ns,
                                       const long long *bptr, const int *pos, int first, int parity)
{
    int c = first + 2 * blockIdx.x + parity, p = (c - 1) >> 1;
    const double *C = child + (child_off[c] + nx[c]) * 8;
    double *P = parent + parent_off[p] * 8;
    const int *q = pos + bptr[c];
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < ns[c] * 8; i += gridDim.y * blockDim.x) P[q[i >> 3] * 8 + (i & 7)] += C[i];
}
// One block of pivots from k0. down: x = inv(L)' y, else y = inv(L) b
extern "C" __global__ void __launch_bounds__(256) solve_pivots(const double *kept, const long long *kept_off, const long long *work_off, const int *nx, int first, int k0, int down,
                                                               double *work)
{
    __shared__ double S[BLOCK * 8];
    int j = first + blockIdx.x, x = nx[j];
    if (k0 >= x) return;
    int m = min(BLOCK, x - k0);
    const double *K = kept + kept_off[j] + (long long)k0 * x + k0;
    double *v = work + (work_off[j] + k0) * 8;
    for (int i = threadIdx.x; i < m * 8; i += 256) S[i] = v[i];
    __syncthreads();
    for (int i = threadIdx.x; i < m * 8; i += 256) {
        int r = i >> 3, k = i & 7;
        double s = S[i] / K[(long long)r * x + r];
        if (down)  // inv(L)'[r][c] = inv(L)[c][r], c > r: lies at (r, c)
            for (int c = r + 1; c < m; c++) s += K[(long long)r * x + c] * S[c * 8 + k];
        else  // inv(L)[r][c], c < r: lies at (c, r)
            for (int c = 0; c < r; c++) s += K[(long long)c * x + r] * S[c * 8 + k];
        v[i] = s;
    }
}
// Rows below the block: work -= L y; 4 rows a warp
extern "C" __global__ void __launch_bounds__(256) solve_up(const double *kept, const long long *kept_off, const long long *work_off, const int *nx, const int *ns, int first, int k0,
                                                           double *work)
{
    __shared__ double S[8][BLOCK + 2];
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j];
    if (k0 >= x) return;
    int m = min(BLOCK, x - k0), lane = threadIdx.x & 31, w = threadIdx.x >> 5, r0 = k0 + m + blockIdx.y * 32 + 4 * w;
    if (k0 + m + (int)blockIdx.y * 32 >= f) return;
    const double *K = kept + kept_off[j] + k0;
    double *W = work + work_off[j] * 8;
    for (int i = threadIdx.x; i < BLOCK * 8; i += 256) S[i & 7][i >> 3] = (i >> 3) < m ? W[k0 * 8 + i] : 0;
    __syncthreads();
    double a[4][8];
#pragma unroll
    for (int p = 0; p < 32; p++) a[p >> 3][p & 7] = 0;
    for (int c = lane; c < m; c += 32) {
        double v[4];
#pragma unroll
        for (int p = 0; p < 4; p++) v[p] = r0 + p < f ? K[(long long)(r0 + p) * x + c] : 0;
#pragma unroll
        for (int p = 0; p < 32; p++) a[p >> 3][p & 7] += v[p >> 3] * S[p & 7][c];
    }
#pragma unroll
    for (int p = 0; p < 4; p++) {
        double mine = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            double s = warp_sum(a[p][k]);
            if (lane == k) mine = s;
        }
        if (lane < 8 && r0 + p < f) W[(r0 + p) * 8 + lane] -= mine;
    }
}
// The block's columns: y -= L' x of the rows below; 32 columns a block of threads, 8 groups of rows added in their order
extern "C" __global__ void __launch_bounds__(256) solve_down(const double *kept, const long long *kept_off, const long long *work_off, const int *nx, const int *ns, int first, int k0,
                                                             double *work)
{
    __shared__ double S[8][32][9];
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j];
    if (k0 >= x) return;
    int m = min(BLOCK, x - k0), c = blockIdx.y * 32 + (threadIdx.x & 31), g = threadIdx.x >> 5;
    if ((int)blockIdx.y * 32 >= m) return;
    const double *K = kept + kept_off[j] + k0 + c;
    double *W = work + work_off[j] * 8, s[8];
#pragma unroll
    for (int k = 0; k < 8; k++) s[k] = 0;
    if (c < m)
        for (int r = k0 + m + g; r < f; r += 8) {
            double v = K[(long long)r * x];
#pragma unroll
            for (int k = 0; k < 8; k++) s[k] += v * W[r * 8 + k];
        }
#pragma unroll
    for (int k = 0; k < 8; k++) S[g][threadIdx.x & 31][k] = s[k];
    __syncthreads();
    int column = threadIdx.x >> 3, k = threadIdx.x & 7;
    if ((int)blockIdx.y * 32 + column >= m) return;
    double total = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) total += S[i][column][k];
    W[(k0 + blockIdx.y * 32 + column) * 8 + k] -= total;
}
