// Small problems at every point, one warp each: principal components, directions, weights; and transports, a thread each.

// Eigenvectors U of a symmetric A, whose diagonal becomes the eigenvalues, by cyclic Jacobi: M / 2 disjoint pairs are turned
// at a time (a tournament), 64 / M lanes a pair.
template <int M> static __device__ __forceinline__ void jacobi(double (*A)[M + 1], double (*U)[M + 1], int lane)
{
    constexpr int ENTRIES = M * M / 32, PER = M * M / 64;
#pragma unroll
    for (int t = 0; t < ENTRIES; t++) U[(lane + 32 * t) / M][(lane + 32 * t) % M] = (lane + 32 * t) / M == (lane + 32 * t) % M;
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
}
// sum[t] += x_a x_b for the entries p = lane + 32 t of an M x M matrix, a = p / M, b = p % M; lane c has x_c
template <int M> static __device__ __forceinline__ void add_outer(double *sum, double x, int lane)
{
#pragma unroll
    for (int t = 0; t < M * M / 32; t++) {
        int p = lane + 32 * t;
        double a = __shfl_sync(ALL_LANES, x, p / M), b = __shfl_sync(ALL_LANES, x, p % M);
        sum[t] += a * b;
    }
}
template <int M> static __device__ __forceinline__ void store_sums(double (*A)[M + 1], const double *sum, int lane)
{
#pragma unroll
    for (int t = 0; t < M * M / 32; t++) A[(lane + 32 * t) / M][(lane + 32 * t) % M] = sum[t];
    __syncwarp();
}
// how many of the first M lanes have a larger value, ties by lane
template <int M> static __device__ __forceinline__ int descending_rank(double value, int lane)
{
    int rank = 0;
    for (int l = 0; l < M; l++) {
        double other = __shfl_sync(ALL_LANES, value, l);
        rank += other > value || (other == value && l < lane);
    }
    return rank;
}

// Local principal components of patches of up to M members, by their centred Gram matrix.
template <int M, int WARPS>
static __device__ __forceinline__ void tangents(const double *X, int count, int columns, const int *members, int K, int d, double tolerance, double *V, double *rest)
{
    __shared__ double As[WARPS][M][M + 1], Us[WARPS][M][M + 1];
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31, i = blockIdx.x * WARPS + w;
    if (i >= count) return;
    double(*A)[M + 1] = As[w], (*U)[M + 1] = Us[w];
    const double *first = X + (long long)members[(long long)i * K] * columns;
    const double *mine = X + (long long)members[(long long)i * K + min(lane, K - 1)] * columns;
    double sum[M * M / 32] = {};
    for (int c = 0; c < columns; c++) {  // near zero first: far from the origin a mean would lose digits
        double x = lane < K ? mine[c] - first[c] : 0, mean = warp_sum(x) / K;
        add_outer<M>(sum, lane < K ? x - mean : 0, lane);
    }
    store_sums<M>(A, sum, lane);
    jacobi<M>(A, U, lane);
    double value = lane < M ? A[lane][lane] : -1;
    int rank = descending_rank<M>(value, lane);
    double largest = __shfl_sync(ALL_LANES, value, __ffs((int)__ballot_sync(ALL_LANES, lane < M && rank == 0)) - 1);
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
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31, i = blockIdx.x * WARPS + w, k = K - 1;
    if (i >= count) return;
    double(*A)[M + 1] = As[w];
    const double *centre = X + (long long)members[(long long)i * K] * columns;
    const double *mine = X + (long long)members[(long long)i * K + min(lane + 1, k)] * columns;
    double sum[M * M / 32] = {};
    for (int c = 0; c < columns; c++) add_outer<M>(sum, lane < k ? mine[c] - centre[c] : 0, lane);
    store_sums<M>(A, sum, lane);
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
// Eigenvalues, ascending, and eigenvectors V[.][j][rank] of the Gram matrix of the other members about the first.
template <int M, int WARPS>
static __device__ __forceinline__ void spoke_eigen(const double *X, int count, int columns, const int *members, int K, double *values, double *V)
{
    __shared__ double As[WARPS][M][M + 1], Us[WARPS][M][M + 1];
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31, i = blockIdx.x * WARPS + w, k = K - 1;
    if (i >= count) return;
    double(*A)[M + 1] = As[w], (*U)[M + 1] = Us[w];
    const double *centre = X + (long long)members[(long long)i * K] * columns;
    const double *mine = X + (long long)members[(long long)i * K + min(lane + 1, k)] * columns;
    double sum[M * M / 32] = {};
    for (int c = 0; c < columns; c++) add_outer<M>(sum, lane < k ? mine[c] - centre[c] : 0, lane);
    store_sums<M>(A, sum, lane);
    jacobi<M>(A, U, lane);
    // rows and columns beyond k are zero and stay alone: their eigenvectors are not among the k
    double value = lane < k ? A[lane][lane] : -1e300;
    int place = k - 1 - descending_rank<M>(value, lane);
    if (lane >= k) return;
    values[(long long)i * k + place] = value;
    for (int j = 0; j < k; j++) V[((long long)i * k + j) * k + place] = U[j][lane];
}
extern "C" __global__ void __launch_bounds__(128) spoke_eigen16(const double *X, int count, int columns, const int *members, int K, double *values, double *V)
{
    spoke_eigen<16, 4>(X, count, columns, members, K, values, V);
}
extern "C" __global__ void __launch_bounds__(64) spoke_eigen32(const double *X, int count, int columns, const int *members, int K, double *values, double *V)
{
    spoke_eigen<32, 2>(X, count, columns, members, K, values, V);
}
// Leading singular directions (columns, d) and the first `kept` singular values of sqrt(w_j) (x_j - q) for the k neighbours
// of each query, w = exp(-(s - s_0) / scale) of their squared distances s, s_0 the least above 0. By the scatter matrix where
// it has at most M columns, else by the Gram matrix.
template <int M, int WARPS>
static __device__ __forceinline__ void directions(const double *X, const double *Q, int count, int columns, const int *near, const double *distance, int k, int d, int kept, double scale,
                                                  double *bases, double *spectra)
{
    __shared__ double As[WARPS][M][M + 1], Us[WARPS][M][M + 1];
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31, i = blockIdx.x * WARPS + w;
    if (i >= count) return;
    double(*A)[M + 1] = As[w], (*U)[M + 1] = Us[w];
    const double *q = Q + (long long)i * columns;
    const int *row = near + (long long)i * k;
    double s = lane < k ? distance[(long long)i * k + lane] : 0, least = 1e300;
    s *= s;
    for (int j = 0; j < k; j++) {
        double other = __shfl_sync(ALL_LANES, s, j);
        if (other > 0) least = fmin(least, other);
    }
    double root = lane < k ? exp(-fmax(s - (least < 1e300 ? least : 0.0), 0.0) / (2 * scale)) : 0;
    bool scattered = columns <= M;
    double sum[M * M / 32] = {};
    if (scattered)
        for (int j = 0; j < k; j++) {
            double r = __shfl_sync(ALL_LANES, root, j);
            add_outer<M>(sum, lane < columns ? r * (X[(long long)row[j] * columns + lane] - q[lane]) : 0, lane);
        }
    else
        for (int c = 0; c < columns; c++) add_outer<M>(sum, lane < k ? root * (X[(long long)row[lane] * columns + c] - q[c]) : 0, lane);
    store_sums<M>(A, sum, lane);
    jacobi<M>(A, U, lane);
    int size = scattered ? columns : k;
    double value = lane < size ? A[lane][lane] : -1e300;
    int rank = descending_rank<M>(value, lane);
    if (lane < size && rank < kept) spectra[(long long)i * kept + rank] = sqrt(fmax(value, 0.0));
    for (int c = 0; c < d; c++) {
        int column = __ffs((int)__ballot_sync(ALL_LANES, lane < size && rank == c)) - 1;
        double length = sqrt(fmax(__shfl_sync(ALL_LANES, value, column), 0.0));
        double *out = bases + (long long)i * columns * d + c;
        if (scattered) {
            if (lane < columns) out[lane * d] = U[lane][column];
            continue;
        }
        double u = lane < k ? root * U[lane][column] : 0;
        for (int x0 = 0; x0 < columns; x0 += 32) {
            int x = x0 + lane;
            double total = 0;
            for (int j = 0; j < k; j++) {
                double a = __shfl_sync(ALL_LANES, u, j);
                if (x < columns) total += a * (X[(long long)row[j] * columns + x] - q[x]);
            }
            if (x < columns) out[(long long)x * d] = length > 0 ? total / length : 0;
        }
    }
}
extern "C" __global__ void __launch_bounds__(128) directions16(const double *X, const double *Q, int count, int columns, const int *near, const double *distance, int k, int d, int kept, double scale, double *bases, double *spectra)
{
    directions<16, 4>(X, Q, count, columns, near, distance, k, d, kept, scale, bases, spectra);
}
extern "C" __global__ void __launch_bounds__(64) directions32(const double *X, const double *Q, int count, int columns, const int *near, const double *distance, int k, int d, int kept, double scale, double *bases, double *spectra)
{
    directions<32, 2>(X, Q, count, columns, near, distance, k, d, kept, scale, bases, spectra);
}
// The orthogonal matrix nearest to O_i' O_j for every entry (i, j) of a graph, and its smallest singular value, by
// one-sided Jacobi; entry (j, i) takes the transpose of (i, j), i < j, bit for bit. O is (points, columns, d), d up to M.
template <int M>
static __device__ __forceinline__ void transport(const double *O, int columns, int d, const int *rows, const int *items, long long count, double *out, double *certainty)
{
    long long e = (long long)blockIdx.x * 128 + threadIdx.x;
    if (e >= count) return;
    bool turned = rows[e] > items[e];
    const double *a = O + (long long)(turned ? items[e] : rows[e]) * columns * d, *b = O + (long long)(turned ? rows[e] : items[e]) * columns * d;
    double A[M][M] = {}, V[M][M] = {}, size[M], largest = 0, smallest = 1e300;
    for (int x = 0; x < columns; x++)
        for (int p = 0; p < d; p++)
            for (int q = 0; q < d; q++) A[p][q] += a[x * d + p] * b[x * d + q];
    for (int p = 0; p < d; p++) V[p][p] = 1;
    for (int turn = 0; turn < 30; turn++) {
        bool done = true;
        for (int p = 0; p < d - 1; p++)
            for (int q = p + 1; q < d; q++) {
                double pp = 0, qq = 0, pq = 0;
                for (int k = 0; k < d; k++) {
                    pp += A[k][p] * A[k][p];
                    qq += A[k][q] * A[k][q];
                    pq += A[k][p] * A[k][q];
                }
                if (!(fabs(pq) > (M > 6 ? 1e-15 : 1e-16) * sqrt(pp * qq)) || pq == 0) continue;  // longer sums round more
                done = false;
                double theta = (qq - pp) / (2 * pq), t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < d; k++) {
                    double u = A[k][p], v = A[k][q];
                    A[k][p] = c * u - s * v;
                    A[k][q] = s * u + c * v;
                    u = V[k][p];
                    v = V[k][q];
                    V[k][p] = c * u - s * v;
                    V[k][q] = s * u + c * v;
                }
            }
        if (done) break;
    }
    for (int p = 0; p < d; p++) {
        double sum = 0;
        for (int k = 0; k < d; k++) sum += A[k][p] * A[k][p];
        size[p] = sqrt(sum);
        largest = fmax(largest, size[p]);
        smallest = fmin(smallest, size[p]);
    }
    for (int p = 0; p < d; p++)  // A becomes U
        for (int k = 0; k < d; k++) A[k][p] = size[p] > 1e-15 * largest ? A[k][p] / size[p] : 0;
    for (int p = 0; p < d; p++) {
        if (size[p] > 1e-15 * largest) continue;
        for (int unit = 0; unit < d; unit++) {  // a direction that is lost: any unit vector that the others leave room for
            double v[M], length = 0;
            for (int k = 0; k < d; k++) v[k] = k == unit;
            for (int q = 0; q < d; q++)
                for (int k = 0; k < d; k++) v[k] -= A[unit][q] * A[k][q];
            for (int k = 0; k < d; k++) length += v[k] * v[k];
            if (length < 0.5 / d) continue;
            for (int k = 0; k < d; k++) A[k][p] = v[k] / sqrt(length);
            break;
        }
    }
    for (int p = 0; p < d; p++)
        for (int q = 0; q < d; q++) {
            double sum = 0;
            for (int k = 0; k < d; k++) sum += A[p][k] * V[q][k];
            out[(e * d + (turned ? q : p)) * d + (turned ? p : q)] = sum;
        }
    certainty[e] = smallest;
}
extern "C" __global__ void __launch_bounds__(128) transports6(const double *O, int columns, int d, const int *rows, const int *items, long long count, double *out, double *certainty)
{
    transport<6>(O, columns, d, rows, items, count, out, certainty);
}
extern "C" __global__ void __launch_bounds__(128) transports16(const double *O, int columns, int d, const int *rows, const int *items, long long count, double *out, double *certainty)
{
    transport<16>(O, columns, d, rows, items, count, out, certainty);
}
