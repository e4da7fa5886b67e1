// Local principal components of patches of up to M members: one warp a patch, cyclic Jacobi on the centred Gram matrix.
// M / 2 disjoint pairs are turned at a time (a tournament), 64 / M lanes a pair.
template <int M, int WARPS>
static __device__ __forceinline__ void tangents(const double *X, int count, int columns, const int *members, int K, int d, double tolerance, double *V, double *rest)
{
    __shared__ double As[WARPS][M][M + 1], Us[WARPS][M][M + 1];
    constexpr int ENTRIES = M * M / 32, PER = M * M / 64;
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31, i = blockIdx.x * WARPS + w;
    if (i >= count) return;
    double(*A)[M + 1] = As[w], (*U)[M + 1] = Us[w];
    const double *first = X + (long long)members[(long long)i * K] * columns;
    const double *mine = X + (long long)members[(long long)i * K + min(lane, K - 1)] * columns;
    double sum[ENTRIES];
#pragma unroll
    for (int t = 0; t < ENTRIES; t++) sum[t] = 0;
    for (int c = 0; c < columns; c++) {  // near zero first: far from the origin a mean would lose digits
        double x = lane < K ? mine[c] - first[c] : 0, mean = warp_sum(x) / K;
        x = lane < K ? x - mean : 0;
#pragma unroll
        for (int t = 0; t < ENTRIES; t++) {
            int p = lane + 32 * t;
            double a = __shfl_sync(ALL_LANES, x, p / M), b = __shfl_sync(ALL_LANES, x, p % M);
            sum[t] += a * b;
        }
    }
#pragma unroll
    for (int t = 0; t < ENTRIES; t++) {
        int p = lane + 32 * t;
        A[p / M][p % M] = sum[t];
        U[p / M][p % M] = p / M == p % M;
    }
    __syncwarp();
    int pair = lane / (64 / M), part = lane % (64 / M);
    for (int turn = 0; turn < 12; turn++) {
        double off = 0, diagonal = 0;
#pragma unroll
        for (int t = 0; t < ENTRIES; t++) {
            int p = lane + 32 * t;
            double v = A[p / M][p % M] * A[p / M][p % M];
            if (p / M == p % M) diagonal += v;
            else off += v;
        }
        if (warp_sum(off) <= 1e-30 * warp_sum(diagonal)) break;
        for (int round = 0; round < M - 1; round++) {
            int a = pair == 0 ? M - 1 : (round + pair) % (M - 1), b = pair == 0 ? round : (round + M - 1 - pair) % (M - 1);
            int p = min(a, b), q = max(a, b);
            double apq = A[p][q], c = 1, s = 0;
            if (fabs(apq) > 1e-300) {
                double theta = (A[q][q] - A[p][p]) / (2 * apq);
                double t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1));
                c = 1 / sqrt(t * t + 1);
                s = t * c;
            }
            __syncwarp();
#pragma unroll 4
            for (int z = 0; z < PER; z++) {
                int x = part * PER + z;
                double u = A[p][x], v = A[q][x];
                A[p][x] = c * u - s * v;
                A[q][x] = s * u + c * v;
            }
            __syncwarp();
#pragma unroll 4
            for (int z = 0; z < PER; z++) {
                int x = part * PER + z;
                double u = A[x][p], v = A[x][q];
                A[x][p] = c * u - s * v;
                A[x][q] = s * u + c * v;
                u = U[x][p];
                v = U[x][q];
                U[x][p] = c * u - s * v;
                U[x][q] = s * u + c * v;
            }
            __syncwarp();
        }
    }
    double value = lane < M ? A[lane][lane] : -1, largest = value;
    int rank = 0;
    for (int l = 0; l < M; l++) {
        double other = __shfl_sync(ALL_LANES, value, l);
        rank += other > value || (other == value && l < lane);
        largest = fmax(largest, other);
    }
    bool real = rank < min(columns, K - 1);  // further ones are zero but for rounding
    double left = warp_sum(lane < M && rank >= d && real ? sqrt(fmax(value, 0.0)) : 0.0);
    if (lane == 0) rest[i] = left;
    for (int k = 0; k < d; k++) {  // a direction that the patch does not span is zero
        int column = __ffs((int)__ballot_sync(ALL_LANES, lane < M && rank == k)) - 1;
        double size = __shfl_sync(ALL_LANES, value, column);
        bool spanned = size > tolerance * tolerance * largest && size > 0;
        double v = lane < K && spanned ? U[lane][column] : 0, length = warp_sum(v * v);  // beyond K the Gram matrix is zero
        if (lane < K) V[((long long)i * K + lane) * d + k] = length > 0 ? v / sqrt(length) : 0;
    }
}
extern "C" __global__ void __launch_bounds__(128) tangents16(const double *X, int count, int columns, const int *members, int K, int d, double tolerance, double *V, double *rest)
{
    tangents<16, 4>(X, count, columns, members, K, d, tolerance, V, rest);
}
extern "C" __global__ void __launch_bounds__(64) tangents32(const double *X, int count, int columns, const int *members, int K, int d, double tolerance, double *V, double *rest)
{
    tangents<32, 2>(X, count, columns, members, K, d, tolerance, V, rest);
}
// Affine weights of the first member of each patch among the others: (C + reg tr(C) I) w = 1, divided by the sum of w; one
// warp a patch, Cholesky with a row a lane. B = (1, -w); error = |x - sum w_j x_j|. A point that coincides with another
// member takes weight 1 on the first such.
template <int M, int WARPS>
static __device__ __forceinline__ void weights(const double *X, int count, int columns, const int *members, int K, double reg, double *B, double *error)
{
    __shared__ double As[WARPS][M][M + 1];
    constexpr int ENTRIES = M * M / 32;
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31, i = blockIdx.x * WARPS + w, k = K - 1;
    if (i >= count) return;
    double(*A)[M + 1] = As[w];
    const double *centre = X + (long long)members[(long long)i * K] * columns;
    const double *mine = X + (long long)members[(long long)i * K + min(lane + 1, k)] * columns;
    double sum[ENTRIES];
#pragma unroll
    for (int t = 0; t < ENTRIES; t++) sum[t] = 0;
    for (int c = 0; c < columns; c++) {
        double x = lane < k ? mine[c] - centre[c] : 0;
#pragma unroll
        for (int t = 0; t < ENTRIES; t++) {
            int p = lane + 32 * t;
            double a = __shfl_sync(ALL_LANES, x, p / M), b = __shfl_sync(ALL_LANES, x, p % M);
            sum[t] += a * b;
        }
    }
#pragma unroll
    for (int t = 0; t < ENTRIES; t++) {
        int p = lane + 32 * t;
        A[p / M][p % M] = sum[t];
    }
    __syncwarp();
    double own = lane < k ? A[lane][lane] : 0, trace = warp_sum(own);
    unsigned same = __ballot_sync(ALL_LANES, lane < k && own == 0);
    if (lane < k) A[lane][lane] = own + (trace > 0 ? reg * trace : 1.0);
    __syncwarp();
    double b = 1;
    for (int j = 0; j < k; j++) {
        double root = sqrt(A[j][j]);
        __syncwarp();
        if (lane == j) A[j][j] = root;
        if (lane > j && lane < k) A[lane][j] /= root;
        __syncwarp();
        if (lane > j && lane < k)
            for (int c = j + 1; c <= lane; c++) A[lane][c] -= A[lane][j] * A[c][j];
        __syncwarp();
        double y = __shfl_sync(ALL_LANES, b, j) / root;
        if (lane == j) b = y;
        if (lane > j && lane < k) b -= A[lane][j] * y;
    }
    for (int j = k - 1; j >= 0; j--) {
        double y = __shfl_sync(ALL_LANES, b, j) / A[j][j];
        if (lane == j) b = y;
        if (lane < j) b -= A[j][lane] * y;
    }
    b /= warp_sum(lane < k ? b : 0.0);
    if (same) b = lane == __ffs((int)same) - 1;
    if (lane >= k) b = 0;
    double left = 0;
    for (int c = 0; c < columns; c++) {
        double miss = warp_sum(lane < k ? b * (mine[c] - centre[c]) : 0.0);
        left += miss * miss;
    }
    if (lane == 0) {
        B[(long long)i * K] = 1;
        error[i] = sqrt(left);
    }
    if (lane < k) B[(long long)i * K + 1 + lane] = -b;
}
extern "C" __global__ void __launch_bounds__(128) weights16(const double *X, int count, int columns, const int *members, int K, double reg, double *B, double *error)
{
    weights<16, 4>(X, count, columns, members, K, reg, B, error);
}
extern "C" __global__ void __launch_bounds__(64) weights32(const double *X, int count, int columns, const int *members, int K, double reg, double *B, double *error)
{
    weights<32, 2>(X, count, columns, members, K, reg, B, error);
}
