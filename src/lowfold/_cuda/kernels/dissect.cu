// Nested dissection by coordinates, one level of the tree at a time: principal direction of every part, median, and of the
// two one-sided boundaries the smaller one. The cut affects speed only, never a result.
#define COORDINATES 8
#define MOMENTS (COORDINATES + COORDINATES * (COORDINATES + 1) / 2)

// One block a part: list[ptr[p]..ptr[p+1]) are its vertices; key[i] = (part, projection), to be sorted.
extern "C" __global__ void __launch_bounds__(512) project_parts(const int *list, const int *ptr, const float *C, int columns, unsigned long long *key)
{
    __shared__ double partial[16][MOMENTS];
    __shared__ float mean[COORDINATES], direction[COORDINATES];
    int p = blockIdx.x, a = ptr[p], b = ptr[p + 1], tid = threadIdx.x, lane = tid & 31, w = tid >> 5, warps = blockDim.x >> 5;
    if (b <= a) return;
    float base[COORDINATES];
    double sum[MOMENTS];
#pragma unroll
    for (int d = 0; d < COORDINATES; d++) base[d] = d < columns ? C[(long long)list[a] * columns + d] : 0.f;
#pragma unroll
    for (int t = 0; t < MOMENTS; t++) sum[t] = 0;
    for (int i = a + tid; i < b; i += blockDim.x) {
        float x[COORDINATES];
        int t = COORDINATES;
#pragma unroll
        for (int d = 0; d < COORDINATES; d++) {
            x[d] = d < columns ? C[(long long)list[i] * columns + d] - base[d] : 0.f;
            sum[d] += x[d];
        }
#pragma unroll
        for (int d = 0; d < COORDINATES; d++)
#pragma unroll
            for (int e = d; e < COORDINATES; e++) sum[t++] += x[d] * x[e];
    }
#pragma unroll
    for (int t = 0; t < MOMENTS; t++) {
        double v = warp_sum(sum[t]);
        if (lane == 0) partial[w][t] = v;
    }
    __syncthreads();
    if (tid == 0) {
        double S[COORDINATES][COORDINATES], u[COORDINATES], total[MOMENTS], n = b - a;
        for (int t = 0; t < MOMENTS; t++) {
            total[t] = 0;
            for (int k = 0; k < warps; k++) total[t] += partial[k][t] / n;
        }
        int t = COORDINATES, widest = 0;
        for (int d = 0; d < COORDINATES; d++)
            for (int e = d; e < COORDINATES; e++, t++) S[d][e] = S[e][d] = total[t] - total[d] * total[e];
        for (int d = 1; d < COORDINATES; d++)
            if (S[d][d] > S[widest][widest]) widest = d;
        for (int d = 0; d < COORDINATES; d++) u[d] = S[widest][d];
        for (int r = 0; r < 12; r++) {  // power steps; the cut need not be the best one
            double v[COORDINATES], size = 0;
            for (int d = 0; d < COORDINATES; d++) {
                v[d] = 0;
                for (int e = 0; e < COORDINATES; e++) v[d] += S[d][e] * u[e];
                size += v[d] * v[d];
            }
            size = size > 0 ? 1 / sqrt(size) : 0;
            for (int d = 0; d < COORDINATES; d++) u[d] = v[d] * size;
        }
        for (int d = 0; d < COORDINATES; d++) {
            mean[d] = (float)total[d];
            direction[d] = (float)u[d];
        }
    }
    __syncthreads();
    for (int i = a + tid; i < b; i += blockDim.x) {
        float x = 0;
        for (int d = 0; d < columns; d++) x += (C[(long long)list[i] * columns + d] - base[d] - mean[d]) * direction[d];
        int f = __float_as_int(x);  // bits in the order of the numbers
        unsigned g = (unsigned)(f ^ ((f >> 31) & 0x7fffffff)) ^ 0x80000000u;
        key[i] = ((unsigned long long)p << 32) | g;
    }
}
// After the sort: the lower half is side 0, the upper side 1; vertices of a separator keep side 2.
extern "C" __global__ void take_sides(const int *list, const unsigned long long *key, const int *ptr, int count, int *part, signed char *side)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int p = (int)(key[i] >> 32), a = ptr[p], b = ptr[p + 1];
    part[list[i]] = p;
    side[list[i]] = i - a >= (b - a) / 2;
}
// edge[i] = 1 where list[i] has a neighbour on the other side of its part
extern "C" __global__ void find_boundary(const int *list, int count, const long long *indptr, const int *indices, const int *part, const signed char *side, signed char *edge)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int v = list[i], p = part[v], s = side[v];
    signed char cut = 0;
    for (long long e = indptr[v]; e < indptr[v + 1] && !cut; e++) {
        int u = indices[e];
        cut = side[u] == 1 - s && part[u] == p;
    }
    edge[i] = cut;
}
