// Shortest paths by relaxation: 32 sources in the lanes of a warp, one warp a vertex, in rounds until nothing changes.
// A vertex looks only at neighbours that changed in the last round or this one. Lengths are whole numbers of a unit, so
// every order of the work ends in the same labels.
template <typename T>
static __device__ __forceinline__ void relax_vertex(const long long *indptr, const int *indices, const T *lengths, int n, int round, T *labels, int *stamp, int *changed)
{
    int v = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (v >= n) return;
    labels += (long long)blockIdx.y * n * 32;
    stamp += (long long)blockIdx.y * n;
    T best = labels[(long long)v * 32 + lane], before = best;
    for (long long e = indptr[v]; e < indptr[v + 1]; e++) {
        int u = indices[e];
        if (*(volatile int *)&stamp[u] < round - 1) continue;
        T d = *(volatile T *)&labels[(long long)u * 32 + lane] + lengths[e];
        if (d < best) best = d;
    }
    if (best < before) labels[(long long)v * 32 + lane] = best;
    if (__any_sync(ALL_LANES, best < before) && lane == 0) {
        stamp[v] = round;
        *changed = round;
    }
}
// The same from one set of sources, one thread a vertex
extern "C" __global__ void __launch_bounds__(256) relax_one(const long long *indptr, const int *indices, const double *lengths, int n, int round, double *labels, int *stamp, int *changed)
{
    int v = blockIdx.x * 256 + threadIdx.x;
    if (v >= n) return;
    double best = labels[v], before = best;
    for (long long e = indptr[v]; e < indptr[v + 1]; e++) {
        int u = indices[e];
        if (*(volatile int *)&stamp[u] < round - 1) continue;
        best = fmin(best, *(volatile double *)&labels[u] + lengths[e]);
    }
    if (!(best < before)) return;
    labels[v] = best;
    stamp[v] = round;
    *changed = round;
}
extern "C" __global__ void __launch_bounds__(256) relax_f64(const long long *indptr, const int *indices, const double *lengths, int n, int round, double *labels, int *stamp, int *changed)
{
    relax_vertex(indptr, indices, lengths, n, round, labels, stamp, changed);
}
extern "C" __global__ void __launch_bounds__(256) relax_i32(const long long *indptr, const int *indices, const int *lengths, int n, int round, int *labels, int *stamp, int *changed)
{
    relax_vertex(indptr, indices, lengths, n, round, labels, stamp, changed);
}
