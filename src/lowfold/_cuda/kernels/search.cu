// Exact nearest neighbours: cells for up to 3 columns, products for more, and direct differences that settle both.
// Squared distances are sums in float64, column after column, never fused: the bits of the CPU's search.

// A warp holds the 32 best (value, index), one in each lane, ascending; ties go to the smaller index.
template <typename V> static __device__ __forceinline__ bool before(V v, int i, V w, int j)
{
    return v < w || (v == w && i < j);
}
template <typename V> static __device__ __forceinline__ void compare(V &v, int &i, int x, bool up)
{
    V w = __shfl_xor_sync(ALL_LANES, v, x);
    int j = __shfl_xor_sync(ALL_LANES, i, x);
    if (before(w, j, v, i) == up) { v = w; i = j; }
}
// (w, j) come in any order
template <typename V> static __device__ __forceinline__ void merge(V &v, int &i, V w, int j, int lane)
{
#pragma unroll
    for (int k = 2; k <= 32; k <<= 1)
#pragma unroll
        for (int x = k >> 1; x > 0; x >>= 1) compare(w, j, x, ((lane & k) == 0) == ((lane & x) == 0));
    w = __shfl_xor_sync(ALL_LANES, w, 31);
    j = __shfl_xor_sync(ALL_LANES, j, 31);
    if (before(w, j, v, i)) { v = w; i = j; }
#pragma unroll
    for (int x = 16; x > 0; x >>= 1) compare(v, i, x, (lane & x) == 0);
}
#define NONE 0x7fffffff

template <typename T> static __device__ __forceinline__ double squared_distance(const T *x, const T *y, int columns)
{
    double s = 0;
    for (int c = 0; c < columns; c++) {
        double t = (double)x[c] - (double)y[c];
        s += t * t;
    }
    return s;
}

// ---- cells: one thread a query; points sorted by cell, z fastest. own[q]: place of the query itself among the points, or -1.
// The k best so far are kept by the thread, or (WIDE, any k) in its row of the answer.
#define MOST 32
template <bool WIDE>
static __device__ __forceinline__ void nearest_of_query(const double *queries, const double *points, const int *label, const int *cell, const int *own, int m, const double *origin, double side,
                                                        int gx, int gy, int gz, int k, double *squared, int *index)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= m) return;
    double x[3], kept[WIDE ? 1 : MOST], *best = WIDE ? squared + (long long)q * k : kept;
    int names[WIDE ? 1 : MOST], *who = WIDE ? index + (long long)q * k : names;
    int g[3] = {gx, gy, gz}, c[3], me = own[q];
    for (int a = 0; a < 3; a++) {
        x[a] = queries[3 * (long long)q + a];
        double at = (x[a] - origin[a]) / side;
        c[a] = at <= 0 ? 0 : at >= g[a] - 1 ? g[a] - 1 : (int)at;
    }
    for (int r = 1;; r *= 2) {
        for (int t = 0; t < k; t++) { best[t] = 1e308 * 10; who[t] = NONE; }
        int z0 = max(c[2] - r, 0), z1 = min(c[2] + r, gz - 1);
        for (int a = max(c[0] - r, 0); a <= min(c[0] + r, gx - 1); a++)
            for (int b = max(c[1] - r, 0); b <= min(c[1] + r, gy - 1); b++) {
                long long row = ((long long)a * gy + b) * gz;
                for (int j = cell[row + z0], e = cell[row + z1 + 1]; j < e; j++) {
                    int name = label[j];
                    if (name == me) continue;
                    double d = squared_distance(x, points + 3 * (long long)j, 3);
                    if (!before(d, name, best[k - 1], who[k - 1])) continue;
                    int t = k - 1;
                    for (; t > 0 && before(d, name, best[t - 1], who[t - 1]); t--) { best[t] = best[t - 1]; who[t] = who[t - 1]; }
                    best[t] = d;
                    who[t] = name;
                }
            }
        // nothing outside the block of cells is nearer than `margin`; cells are exact to rounding, hence the slack
        double margin = 1e300;
        for (int a = 0; a < 3; a++) {
            if (c[a] - r > 0) margin = fmin(margin, x[a] - (origin[a] + (c[a] - r) * side));
            if (c[a] + r < g[a] - 1) margin = fmin(margin, origin[a] + (c[a] + r + 1) * side - x[a]);
        }
        margin -= 1e-9 * side;
        if (margin >= 1e299 || (margin > 0 && best[k - 1] < margin * margin * (1 - 1e-12))) break;
    }
    for (int t = 0; t < k && !WIDE; t++) {
        squared[(long long)q * k + t] = best[t];
        index[(long long)q * k + t] = who[t];
    }
}
extern "C" __global__ void __launch_bounds__(128) nearest_in_cells(const double *queries, const double *points, const int *label, const int *cell, const int *own, int m, const double *origin,
                                                                   double side, int gx, int gy, int gz, int k, double *squared, int *index)
{
    nearest_of_query<false>(queries, points, label, cell, own, m, origin, side, gx, gy, gz, k, squared, index);
}
extern "C" __global__ void __launch_bounds__(128) nearest_in_cells_wide(const double *queries, const double *points, const int *label, const int *cell, const int *own, int m, const double *origin,
                                                                        double side, int gx, int gy, int gz, int k, double *squared, int *index)
{
    nearest_of_query<true>(queries, points, label, cell, own, m, origin, side, gx, gy, gz, k, squared, index);
}

// ---- queries within reach of a point: one thread a point, in the order `who`; queries sorted by cell. With fill == 0 only
// their number goes to count; else the pairs go to rows and squared from first on, those of one point side by side.
static __device__ __forceinline__ int cell_of(double x, double origin, double side, int cells)
{
    double at = (x - origin) / side;
    return !(at > 0) ? 0 : !(at < cells - 1) ? cells - 1 : (int)at;
}
extern "C" __global__ void __launch_bounds__(128) within_in_cells(const double *points, const int *who, const double *reach, int m, int itself, const double *queries, const int *label,
                                                                  const int *cell, const double *origin, double side, int gx, int gy, int gz, int fill, long long *count, const long long *first,
                                                                  int *rows, double *squared)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= m) return;
    int p = who[t], g[3] = {gx, gy, gz}, a[3], b[3];
    double x[3], r = reach[p];
    for (int c = 0; c < 3; c++) {  // cells are exact to rounding, hence the slack
        x[c] = points[3 * (long long)p + c];
        a[c] = cell_of(x[c] - r - 1e-9 * side, origin[c], side, g[c]);
        b[c] = cell_of(x[c] + r + 1e-9 * side, origin[c], side, g[c]);
    }
    long long found = 0, at = fill ? first[p] : 0;
    for (int i = a[0]; i <= b[0]; i++)
        for (int j = a[1]; j <= b[1]; j++) {
            long long row = ((long long)i * gy + j) * gz;
            for (int q = cell[row + a[2]], e = cell[row + b[2] + 1]; q < e; q++) {
                double s = squared_distance(x, queries + 3 * (long long)q, 3);
                if (!(s <= r * r) || (itself && label[q] == p)) continue;
                if (fill) {
                    rows[at + found] = label[q];
                    squared[at + found] = s;
                }
                found++;
            }
        }
    if (!fill) count[p] = found;
}
// squared distances of pairs of rows
template <typename T>
static __device__ __forceinline__ void pair_distance(const T *queries, const T *points, int columns, const int *rows, const int *items, long long count, double *squared)
{
    long long e = (long long)blockIdx.x * 256 + threadIdx.x;
    if (e < count) squared[e] = squared_distance(queries + (long long)rows[e] * columns, points + (long long)items[e] * columns, columns);
}
extern "C" __global__ void __launch_bounds__(256) pair_distances_f32(const float *queries, const float *points, int columns, const int *rows, const int *items, long long count, double *squared)
{
    pair_distance(queries, points, columns, rows, items, count, squared);
}
extern "C" __global__ void __launch_bounds__(256) pair_distances_f64(const double *queries, const double *points, int columns, const int *rows, const int *items, long long count, double *squared)
{
    pair_distance(queries, points, columns, rows, items, count, squared);
}

// ---- all points by direct differences: one warp a row of `rows`; out: the k best without itself, 32 in each round, which
// begins after the last of the round before
template <typename T>
static __device__ __forceinline__ void search_all(const T *queries, const T *points, const int *rows, int m, int n, int columns, int itself, int k, double *squared, int *index)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r >= m) return;
    int q = rows[r], end_who = -1;
    double end = -1;
    const T *x = queries + (long long)q * columns;
    for (int first = 0; first < k; first += 32) {
        double best = 1e308 * 10;
        int who = NONE;
        for (int j0 = 0; j0 < n; j0 += 32) {
            int j = j0 + lane;
            bool valid = j < n && !(itself && j == q);
            double d = valid ? squared_distance(x, points + (long long)j * columns, columns) : 1e308 * 10;
            valid = valid && before(end, end_who, d, j);
            double worst = __shfl_sync(ALL_LANES, best, 31);
            int last = __shfl_sync(ALL_LANES, who, 31);
            if (__any_sync(ALL_LANES, valid && before(d, j, worst, last))) merge(best, who, valid ? d : 1e308 * 10, valid ? j : NONE, lane);
        }
        if (first + lane < k) {
            squared[(long long)r * k + first + lane] = best;
            index[(long long)r * k + first + lane] = who;
        }
        end = __shfl_sync(ALL_LANES, best, 31);
        end_who = __shfl_sync(ALL_LANES, who, 31);
    }
}
extern "C" __global__ void __launch_bounds__(256) search_all_f32(const float *queries, const float *points, const int *rows, int m, int n, int columns, int itself, int k, double *squared, int *index)
{
    search_all(queries, points, rows, m, n, columns, itself, k, squared, index);
}
extern "C" __global__ void __launch_bounds__(256) search_all_f64(const double *queries, const double *points, const int *rows, int m, int n, int columns, int itself, int k, double *squared, int *index)
{
    search_all(queries, points, rows, m, n, columns, itself, k, squared, index);
}

// ---- selection behind a product: the 32 smallest keys norms[j] - G[r][j] of every row that come after its first ones,
// which are there already; one warp a row
extern "C" __global__ void __launch_bounds__(256) select_keys(const float *G, long long ld, const float *norms, int rows, int n, int first, int width, float *keys, int *items)
{
    __shared__ float waiting[8][160];
    __shared__ int names[8][160];
    int w = threadIdx.x >> 5, lane = threadIdx.x & 31, r = blockIdx.x * 8 + w;
    if (r >= rows) return;
    const float *g = G + (long long)r * ld;
    long long o = (long long)r * width + first;
    float v = __int_as_float(INFINITE), worst = v, end = first ? keys[o - 1] : -v;
    int id = NONE, count = 0, end_id = first ? items[o - 1] : -1;
    for (int c = 4 * lane; c < ((n + 127) & ~127); c += 128) {
        float a[4], least = __int_as_float(INFINITE);
#pragma unroll
        for (int t = 0; t < 4; t++) {
            a[t] = c + t < n ? norms[c + t] - __ldcs(&g[c + t]) : __int_as_float(INFINITE);
            if (!before(end, end_id, a[t], c + t)) a[t] = __int_as_float(INFINITE);
            least = fminf(least, a[t]);
        }
        if (!__any_sync(ALL_LANES, least < worst)) continue;
#pragma unroll
        for (int t = 0; t < 4; t++) {
            unsigned those = __ballot_sync(ALL_LANES, a[t] < worst);
            if (a[t] < worst) {
                int at = count + __popc(those & ((1u << lane) - 1));
                waiting[w][at] = a[t];
                names[w][at] = c + t;
            }
            count += __popc(those);
        }
        __syncwarp();
        while (count >= 32) {
            count -= 32;
            merge(v, id, waiting[w][count + lane], names[w][count + lane], lane);
            __syncwarp();
        }
        worst = __shfl_sync(ALL_LANES, v, 31);
    }
    merge(v, id, lane < count ? waiting[w][lane] : __int_as_float(INFINITE), lane < count ? names[w][lane] : NONE, lane);
    keys[o + lane] = v;
    items[o + lane] = id;
}

// ---- product and selection in one, for up to 61 columns: halves on tensor cores.
// A: queries (m x 64): -x, then 1 1 1; B: points (n x 64): y, then |y|^2/2 as a sum of three halves. A product is the key.
// 8 warps of 32 queries; points come through shared memory 64 at a time.
#define STAGES 4
extern "C" __global__ void __launch_bounds__(256, 1) select_halves(const unsigned short *A, const unsigned short *B, int m, int n, float *keys, int *items)
{
    DYNAMIC_SHARED(unsigned char, memory);
    unsigned char *tile = memory;                               // STAGES x 64 x 128 bytes, swizzled
    float *waiting = (float *)(memory + STAGES * 8192);         // [256][64]
    int *names = (int *)(memory + STAGES * 8192 + 65536);       // [256][64]
    int *counts = (int *)(memory + STAGES * 8192 + 131072);     // [256]
    int tid = threadIdx.x, w = tid >> 5, lane = tid & 31, g = lane >> 2, t = lane & 3, q0 = blockIdx.x * 256 + w * 32;
    const float infinite = __int_as_float(INFINITE);
    unsigned a[2][4][4];
#pragma unroll
    for (int mt = 0; mt < 2; mt++)
#pragma unroll
        for (int ks = 0; ks < 4; ks++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int row = min(q0 + 16 * mt + g + 8 * (e & 1), m - 1), k = 16 * ks + 2 * t + 8 * (e >> 1);
                a[mt][ks][e] = *(const unsigned *)(A + (long long)row * 64 + k);
            }
    float worst[4] = {infinite, infinite, infinite, infinite};  // of rows g, g+8, g+16, g+24
    counts[tid] = 0;
    int steps = (n + 63) / 64;
    auto fetch = [&](int s) {
        if (s < steps)
#pragma unroll
            for (int u = 0; u < 2; u++) {
                int i = tid + 256 * u, row = i >> 3, ch = i & 7, p = min(s * 64 + row, n - 1);
                copy16(tile + (s % STAGES) * 8192 + row * 128 + ((ch ^ (row & 7)) << 4), B + (long long)p * 64 + ch * 8);
            }
        copy_commit();
    };
    for (int s = 0; s < STAGES - 1; s++) fetch(s);
    for (int s = 0; s < steps; s++) {
        copy_wait<STAGES - 2>();
        __syncthreads();
        fetch(s + STAGES - 1);
        const unsigned char *T = tile + (s % STAGES) * 8192;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float c[2][4][4];
#pragma unroll
            for (int x = 0; x < 32; x++) c[x >> 4][(x >> 2) & 3][x & 3] = 0.f;
#pragma unroll
            for (int nt = 0; nt < 4; nt++)
#pragma unroll
                for (int kp = 0; kp < 2; kp++) {
                    unsigned b[4];
                    int row = half * 32 + nt * 8 + (lane & 7), ch = kp * 4 + (lane >> 3);
                    load_matrices(b, T + row * 128 + ((ch ^ (row & 7)) << 4));
#pragma unroll
                    for (int mt = 0; mt < 2; mt++) {
                        mma_f16(c[mt][nt], a[mt][2 * kp], b);
                        mma_f16(c[mt][nt], a[mt][2 * kp + 1], b + 2);
                    }
                }
            int base = s * 64 + half * 32 + 2 * t;
            bool any = false;
#pragma unroll
            for (int rr = 0; rr < 4; rr++) {
                float least = infinite;
#pragma unroll
                for (int nt = 0; nt < 4; nt++)
#pragma unroll
                    for (int e = 0; e < 2; e++) {
                        float &v = c[rr >> 1][nt][2 * (rr & 1) + e];
                        if (base + nt * 8 + e >= n) v = infinite;  // the last tile repeats its last point
                        least = fminf(least, v);
                    }
                any |= least < worst[rr];
            }
            if (!__any_sync(ALL_LANES, any)) continue;
            if (any)
#pragma unroll
                for (int rr = 0; rr < 4; rr++)
#pragma unroll
                    for (int nt = 0; nt < 4; nt++)
#pragma unroll
                        for (int e = 0; e < 2; e++) {
                            float v = c[rr >> 1][nt][2 * (rr & 1) + e];
                            if (v < worst[rr]) {
                                int row = w * 32 + g + 8 * rr, at = atomicAdd(&counts[row], 1);
                                waiting[row * 64 + at] = v;
                                names[row * 64 + at] = base + nt * 8 + e;
                            }
                        }
            __syncwarp();
            unsigned full = __ballot_sync(ALL_LANES, counts[w * 32 + lane] >= 32);
            while (full) {
                int r = __ffs(full) - 1, row = w * 32 + r, count = counts[row];
                full &= full - 1;
                long long o = ((long long)blockIdx.x * 256 + row) * 32 + lane;
                float v = keys[o];
                int id = items[o];
                merge(v, id, waiting[row * 64 + lane], names[row * 64 + lane], lane);
                bool more = 32 + lane < count;
                merge(v, id, more ? waiting[row * 64 + 32 + lane] : infinite, more ? names[row * 64 + 32 + lane] : NONE, lane);
                keys[o] = v;
                items[o] = id;
                float last = __shfl_sync(ALL_LANES, v, 31);
                __syncwarp();
                if (lane == 0) counts[row] = 0;
#pragma unroll
                for (int rr = 0; rr < 4; rr++)
                    if (r == g + 8 * rr) worst[rr] = last;
            }
            __syncwarp();
        }
    }
    __syncwarp();
    for (int r = 0; r < 32; r++) {
        int row = w * 32 + r, count = counts[row];
        long long o = ((long long)blockIdx.x * 256 + row) * 32 + lane;
        float v = keys[o];
        int id = items[o];
        merge(v, id, lane < count ? waiting[row * 64 + lane] : infinite, lane < count ? names[row * 64 + lane] : NONE, lane);
        keys[o] = v;
        items[o] = id;
    }
}

// ---- the k best of `width` candidates by direct differences, 32 in each round, which begins after the last of the round
// before; certain where the k-th is nearer than whatever was left out (floor). `kept`: a candidate's distance, for k > 32
template <typename T>
static __device__ __forceinline__ void settle_row(const T *queries, const T *points, const int *rows, int m, int columns, int itself, int k, int width, const int *items, const double *floor,
                                                  double *kept, double *squared, int *index, signed char *certain)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r >= m) return;
    int q = rows[r], end_who = -1;
    double end = -1;
    for (int first = 0; first < k; first += 32) {
        double best = 1e308 * 10;
        int who = NONE;
        for (int c = lane; c < width; c += 32) {  // a lane reads of `kept` what it wrote
            long long o = (long long)r * width + c;
            int j = items[o];
            double d = 1e308 * 10;
            if (itself && j == q) j = NONE;
            if (j != NONE) d = first ? kept[o] : squared_distance(queries + (long long)q * columns, points + (long long)j * columns, columns);
            if (first == 0 && k > 32) kept[o] = d;
            if (!before(end, end_who, d, j)) { d = 1e308 * 10; j = NONE; }
            merge(best, who, d, j, lane);
        }
        if (first + lane < k) {
            squared[(long long)r * k + first + lane] = best;
            index[(long long)r * k + first + lane] = who;
        }
        if (first + lane == k - 1) certain[r] = best < floor[r];
        end = __shfl_sync(ALL_LANES, best, 31);
        end_who = __shfl_sync(ALL_LANES, who, 31);
    }
}
extern "C" __global__ void __launch_bounds__(256) settle_f32(const float *queries, const float *points, const int *rows, int m, int columns, int itself, int k, int width, const int *items,
                                                             const double *floor, double *kept, double *squared, int *index, signed char *certain)
{
    settle_row(queries, points, rows, m, columns, itself, k, width, items, floor, kept, squared, index, certain);
}
extern "C" __global__ void __launch_bounds__(256) settle_f64(const double *queries, const double *points, const int *rows, int m, int columns, int itself, int k, int width, const int *items,
                                                             const double *floor, double *kept, double *squared, int *index, signed char *certain)
{
    settle_row(queries, points, rows, m, columns, itself, k, width, items, floor, kept, squared, index, certain);
}
