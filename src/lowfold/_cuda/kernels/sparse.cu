// Sparse matrices by rows, and sums of segments; every sum is gathered in a fixed order.

// Y = A V for blocks of 8 columns: 8 lanes a row
extern "C" __global__ void __launch_bounds__(256) times_rows(const long long *indptr, const int *indices, const double *values, int n, const double *V, double *Y)
{
    long long r = ((long long)blockIdx.x * 256 + threadIdx.x) >> 3;
    int c = threadIdx.x & 7;
    if (r >= n) return;
    double s = 0;
    for (long long e = indptr[r], end = indptr[r + 1]; e < end; e++) s += values[e] * V[(long long)indices[e] * 8 + c];
    Y[r * 8 + c] = s;
}
// out[u] = sum of values[perm[k]], ptr[u] <= k < ptr[u + 1]
extern "C" __global__ void __launch_bounds__(256) add_segments(const long long *ptr, const long long *perm, const double *values, long long count, double *out)
{
    long long u = (long long)blockIdx.x * 256 + threadIdx.x;
    if (u >= count) return;
    double s = 0;
    for (long long k = ptr[u]; k < ptr[u + 1]; k++) s += values[perm[k]];
    out[u] = s;
}
