// Exact sums over all pairs of a layout of up to 3 columns, for descents. One point a thread; columns of pairs from
// blockIdx.y * span, partial sums out[y][n][width].
#define TILE 256
// Calls term(j, a, b, c, s) for the pairs of point i: differences of coordinates (0 beyond the layout's), and their square.
template <typename F>
static __device__ __forceinline__ void for_pairs(const double *Y, int n, int columns, int span, F term)
{
    __shared__ double S[3][TILE];
    int i = blockIdx.x * TILE + threadIdx.x, first = blockIdx.y * span, last = min(n, first + span);
    double y[3];
    for (int c = 0; c < 3; c++) y[c] = c < columns && i < n ? Y[(long long)i * columns + c] : 0;
    for (int k = first; k < last; k += TILE) {
        __syncthreads();
        int j = k + threadIdx.x;
        for (int c = 0; c < 3; c++) S[c][threadIdx.x] = c < columns && j < last ? Y[(long long)j * columns + c] : 0;
        __syncthreads();
        if (i < n)
            for (int t = 0; t < min(TILE, last - k); t++) {
                double a = y[0] - S[0][t], b = y[1] - S[1][t], c = y[2] - S[2][t];
                term(k + t, a, b, c, a * a + b * b + c * c);
            }
    }
}
template <int WIDTH> static __device__ __forceinline__ void store(const double *sum, int n, double *out)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < n)
        for (int c = 0; c < WIDTH; c++) out[((long long)blockIdx.y * n + i) * WIDTH + c] = sum[c];
}
// Student's repulsion: (sum_j w^2 (y_i - y_j), sum_j w) with w = 1 / (1 + |y_i - y_j|^2), j != i
extern "C" __global__ void __launch_bounds__(TILE) student_sums(const double *Y, int n, int columns, int span, double *out)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    double g[4] = {};
    for_pairs(Y, n, columns, span, [&](int j, double a, double b, double c, double s) {
        double w = j == i ? 0 : 1 / (1 + s);
        g[3] += w;
        w *= w;
        g[0] += w * a;
        g[1] += w * b;
        g[2] += w * c;
    });
    store<4>(g, n, out);
}
// sum_{j != i} exp(-|y_i - y_j|^2)
extern "C" __global__ void __launch_bounds__(TILE) gaussian_masses(const double *Y, int n, int columns, int span, double *out)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    double mass = 0;
    for_pairs(Y, n, columns, span, [&](int j, double, double, double, double s) { mass += j == i ? 0 : exp(-s); });
    store<1>(&mass, n, out);
}
// sum_j (f_i + f_j) exp(-|y_i - y_j|^2) (y_i - y_j)
extern "C" __global__ void __launch_bounds__(TILE) gaussian_repulsion(const double *Y, const double *f, int n, int columns, int span, double *out)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    double g[3] = {}, own = i < n ? f[i] : 0;
    for_pairs(Y, n, columns, span, [&](int j, double a, double b, double c, double s) {
        double w = (own + f[j]) * exp(-s);
        g[0] += w * a;
        g[1] += w * b;
        g[2] += w * c;
    });
    store<3>(g, n, out);
}
// Attraction by a symmetric P: (sum_j p_ij w_ij (y_i - y_j), -sum_j p_ij log w_ij), w = 1 / (1 + |y_i - y_j|^2) if `student`,
// else 1 and exp(-|y_i - y_j|^2) in the logarithm. Threads read a row of P side by side.
extern "C" __global__ void __launch_bounds__(TILE) attraction(const double *P, const double *Y, int n, int columns, int span, int student, double *out)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    double g[4] = {};
    for_pairs(Y, n, columns, span, [&](int j, double a, double b, double c, double s) {
        double p = P[(long long)j * n + i], w = student ? p / (1 + s) : p;
        g[0] += w * a;
        g[1] += w * b;
        g[2] += w * c;
        g[3] += p * (student ? log(1 + s) : s);
    });
    store<4>(g, n, out);
}
// The same by a sparse P, row by row
extern "C" __global__ void __launch_bounds__(TILE) sparse_attraction(const long long *indptr, const int *indices, const double *P, const double *Y, int n, int columns, int student, double *out)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i >= n) return;
    double g[4] = {};
    for (long long e = indptr[i]; e < indptr[i + 1]; e++) {
        double u[3] = {}, s = 0;
        for (int c = 0; c < columns; c++) {
            u[c] = Y[(long long)i * columns + c] - Y[(long long)indices[e] * columns + c];
            s += u[c] * u[c];
        }
        double w = student ? P[e] / (1 + s) : P[e];
        for (int c = 0; c < 3; c++) g[c] += w * u[c];
        g[3] += P[e] * (student ? log(1 + s) : s);
    }
    store<4>(g, n, out);
}
// Sums of raw stress, all weights 1: (sum_j (delta_ij / d_ij) (y_i - y_j), sum_j delta_ij d_ij, sum_j d_ij^2,
// sum_j (delta_ij - d_ij)^2); delta is symmetric, so that threads read a row of it side by side.
template <typename T>
static __device__ __forceinline__ void stress_sums(const T *delta, const double *Y, int n, int columns, int span, double *out)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    double g[6] = {};
    for_pairs(Y, n, columns, span, [&](int j, double a, double b, double c, double s) {
        double d = sqrt(s), wanted = (double)delta[(long long)j * n + i], ratio = s > 0 ? wanted / d : 0;
        g[0] += ratio * a;
        g[1] += ratio * b;
        g[2] += ratio * c;
        g[3] += wanted * d;
        g[4] += s;
        g[5] += (wanted - d) * (wanted - d);
    });
    store<6>(g, n, out);
}
extern "C" __global__ void __launch_bounds__(TILE) stress_sums_f32(const float *delta, const double *Y, int n, int columns, int span, double *out)
{
    stress_sums(delta, Y, n, columns, span, out);
}
extern "C" __global__ void __launch_bounds__(TILE) stress_sums_f64(const double *delta, const double *Y, int n, int columns, int span, double *out)
{
    stress_sums(delta, Y, n, columns, span, out);
}
// Sums of w, w e and w e^2 over a row of squared distances, e = s - near, w = exp(-beta e), infinite ones left out: one warp
// for each row of `rows`
extern "C" __global__ void __launch_bounds__(TILE) heat_moments(const double *S, const int *rows, const double *near, const double *beta, int m, int n, double *out)
{
    int r = (blockIdx.x * TILE + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r >= m) return;
    const double *row = S + (long long)rows[r] * n;
    double g[3] = {}, least = near[r], b = beta[r];
    for (int j = lane; j < n; j += 32) {
        double e = row[j] - least;
        if (!(e < 1e308)) continue;
        double w = exp(-b * e);
        g[0] += w;
        g[1] += w * e;
        g[2] += w * e * e;
    }
    for (int c = 0; c < 3; c++) {
        g[c] = warp_sum(g[c]);
        if (lane == 0) out[3 * (long long)r + c] = g[c];
    }
}
