// Distances of some rows to all, by direct differences, column after column, never fused: tiles of 64 x 64, 16 pairs a thread.
#define SIDE 64
#define DEEP 16
extern "C" __global__ void __launch_bounds__(256) row_distances(const double *Q, const double *X, int m, int n, int columns, double *out)
{
    __shared__ double A[DEEP][SIDE + 1], B[DEEP][SIDE + 1];
    int r0 = blockIdx.y * SIDE, c0 = blockIdx.x * SIDE, ty = threadIdx.x >> 4, tx = threadIdx.x & 15;
    double sum[4][4] = {};
    for (int k0 = 0; k0 < columns; k0 += DEEP) {
        __syncthreads();
        for (int i = threadIdx.x; i < SIDE * DEEP; i += 256) {
            int r = i / DEEP, k = i % DEEP;
            A[k][r] = r0 + r < m && k0 + k < columns ? Q[(long long)(r0 + r) * columns + k0 + k] : 0;
            B[k][r] = c0 + r < n && k0 + k < columns ? X[(long long)(c0 + r) * columns + k0 + k] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            double a[4], b[4];
#pragma unroll
            for (int p = 0; p < 4; p++) {
                a[p] = A[k][ty + 16 * p];
                b[p] = B[k][tx + 16 * p];
            }
#pragma unroll
            for (int p = 0; p < 16; p++) {
                double d = a[p >> 2] - b[p & 3];
                sum[p >> 2][p & 3] += d * d;
            }
        }
    }
#pragma unroll
    for (int p = 0; p < 16; p++) {
        int r = r0 + ty + 16 * (p >> 2), c = c0 + tx + 16 * (p & 3);
        if (r < m && c < n) out[(long long)r * n + c] = sqrt(sum[p >> 2][p & 3]);
    }
}
