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
// The same in twice the precision, rounded once: what is left of a product after cancellation is right to its last digits.
// Rounded operations are named, so that no compiler fuses them.
extern "C" __global__ void __launch_bounds__(256) times_rows_twice(const long long *indptr, const int *indices, const double *values, int n, const double *V, double *Y)
{
    long long r = ((long long)blockIdx.x * 256 + threadIdx.x) >> 3;
    int c = threadIdx.x & 7;
    if (r >= n) return;
    double s = 0, low = 0;
    for (long long e = indptr[r], end = indptr[r + 1]; e < end; e++) {
        double a = values[e], b = V[(long long)indices[e] * 8 + c], p = __dmul_rn(a, b);
        double t = __dadd_rn(s, p), z = __dsub_rn(t, s);
        low += __dadd_rn(__dsub_rn(s, __dsub_rn(t, z)), __dsub_rn(p, z)) + fma(a, b, -p);
        s = t;
    }
    Y[r * 8 + c] = s + low;
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
