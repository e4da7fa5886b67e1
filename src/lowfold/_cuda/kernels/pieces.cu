// Passes over the rows of a graph: which vertices hang together, how many steps they are away, what neighbours share.

// One round towards the smallest vertex of each piece (Zhang, Azad & Hu 2020, FastSV, doi:10.1137/1.9781611976137.5): v and
// the label of v take the least label of a label at v and its neighbours, so that whole trees of labels meet at once. `to`
// starts as a copy of `from`; minima have no order. Along entries with kept[e] != 0, if masked. Eight lanes a vertex, here
// and below.
static __device__ __forceinline__ void lower(int *at, int value, int *changed)
{
    if (*(volatile int *)at > value && atomicMin(at, value) > value) *changed = 1;
}
extern "C" __global__ void __launch_bounds__(256) hook_labels(const long long *indptr, const int *indices, const signed char *kept, int masked, int n, const int *from, int *to, int *changed)
{
    long long v = ((long long)blockIdx.x * 256 + threadIdx.x) >> 3;
    int own = v < n ? from[v] : 0, best = v < n ? from[own] : 0;
    if (v < n)
        for (long long e = indptr[v] + (threadIdx.x & 7), end = indptr[v + 1]; e < end; e += 8)
            if (!masked || kept[e]) best = min(best, from[from[indices[e]]]);
#pragma unroll
    for (int o = 4; o; o >>= 1) best = min(best, __shfl_xor_sync(ALL_LANES, best, o));
    if (v >= n || (threadIdx.x & 7)) return;
    lower(&to[own], best, changed);
    lower(&to[v], best, changed);
}
// to[v] = the least of from at v and its neighbours
extern "C" __global__ void __launch_bounds__(256) least_near(const long long *indptr, const int *indices, int n, const int *from, int *to)
{
    int v = blockIdx.x * 256 + threadIdx.x;
    if (v >= n) return;
    int best = from[v];
    for (long long e = indptr[v], end = indptr[v + 1]; e < end; e++) best = min(best, from[indices[e]]);
    to[v] = best;
}
// to[v] = the mean of from at v and its neighbours, rows of eight
extern "C" __global__ void __launch_bounds__(256) average_near(const long long *indptr, const int *indices, int n, const float *from, float *to)
{
    long long v = ((long long)blockIdx.x * 256 + threadIdx.x) >> 3;
    int c = threadIdx.x & 7;
    if (v >= n) return;
    float sum = from[v * 8 + c];
    for (long long e = indptr[v], end = indptr[v + 1]; e < end; e++) sum += from[(long long)indices[e] * 8 + c];
    to[v * 8 + c] = sum / (float)(indptr[v + 1] - indptr[v] + 1);
}
// One round of breadth-first searches from 32 sources, a bit each: to[v] has the bits of v and of its neighbours; where
// a bit is new, steps[v][bit] = round.
extern "C" __global__ void __launch_bounds__(256) spread_bits(const long long *indptr, const int *indices, int n, int round, const int *from, int *to, float *steps, int *changed)
{
    long long v = ((long long)blockIdx.x * 256 + threadIdx.x) >> 3;
    int own = v < n ? from[v] : -1, seen = own;
    if (own != -1)
        for (long long e = indptr[v] + (threadIdx.x & 7), end = indptr[v + 1]; e < end; e += 8) seen |= from[indices[e]];
#pragma unroll
    for (int o = 4; o; o >>= 1) seen |= __shfl_xor_sync(ALL_LANES, seen, o);
    if (v >= n) return;
    if ((threadIdx.x & 7) == 0) to[v] = seen;
    int fresh = seen & ~own;
    if (fresh == 0) return;
    *changed = round;
    for (int b = threadIdx.x & 7; b < 32; b += 8)
        if ((unsigned)fresh >> b & 1) steps[v * 32 + b] = (float)round;
}
// out[v] = the m-th smallest length in row v, infinite where the row has fewer; m up to 16
extern "C" __global__ void __launch_bounds__(256) mth_length(const long long *indptr, const double *lengths, int n, int m, double *out)
{
    int v = blockIdx.x * 256 + threadIdx.x;
    if (v >= n) return;
    double best[16];
    for (int k = 0; k < m; k++) best[k] = 1e308 * 10;  // infinite
    for (long long e = indptr[v]; e < indptr[v + 1]; e++) {
        double length = lengths[e];
        for (int k = 0; k < m; k++) {
            double other = best[k];
            best[k] = fmin(other, length);
            length = fmax(other, length);
        }
    }
    out[v] = best[m - 1];
}
// share[e] = |N(i) and N(j)| / min(|N(i)|, |N(j)|) for every entry (i, j); rows are sorted. Counting ends beyond `enough`.
extern "C" __global__ void __launch_bounds__(256) shared_neighbors(const long long *indptr, const int *indices, const int *rows, long long count, double enough, double *share)
{
    long long e = (long long)blockIdx.x * 256 + threadIdx.x;
    if (e >= count) return;
    int i = rows[e], j = indices[e], common = 0;
    long long a = indptr[i], b = indptr[j], a_end = indptr[i + 1], b_end = indptr[j + 1];
    long long least = min(a_end - a, b_end - b);
    while (a < a_end && b < b_end && (double)common <= enough * (double)least) {
        int u = indices[a], v = indices[b];
        common += u == v;
        a += u <= v;
        b += v <= u;
    }
    share[e] = (double)common / (double)least;
}
