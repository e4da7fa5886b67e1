// All pairs of shortest paths on a nested dissection, in the (min, +) algebra of whole numbers: sums are exact, so every
// order of the work gives the same bits. Hopper adds and takes the minimum in one instruction.
// A front is a full symmetric matrix of (nx + ns)^2 labels, a node's own vertices first, then its boundary of ancestors.
#define FAR_LABEL 0x3fffffff  // no path; the sum of two of them still fits
#define ADD_MIN(best, a, b) best = __viaddmin_s32(a, b, best)

extern "C" __global__ void clear_fronts(int *front, const long long *off, const int *nx, const int *ns)
{
    int j = blockIdx.x, f = nx[j] + ns[j];
    int *M = front + off[j];
    for (long long i = blockIdx.y * blockDim.x + threadIdx.x; i < (long long)f * f; i += gridDim.y * blockDim.x)
        M[i] = i % (f + 1) == 0 ? 0 : FAR_LABEL;
}

// What a child leaves over goes to its parent; left children and right ones in two launches, so that no two meet.
extern "C" __global__ void extend_min(int *front, const long long *off, const int *nx, const int *ns, const long long *bptr, const int *pos, int first, int parity)
{
    int c = first + 2 * blockIdx.x + parity, p = (c - 1) >> 1;
    int s = ns[c], x = nx[c], f = x + s, g = nx[p] + ns[p];
    const int *C = front + off[c], *q = pos + bptr[c];
    int *P = front + off[p];
    int lane = threadIdx.x & 31, w = (blockIdx.y * blockDim.x + threadIdx.x) >> 5, warps = gridDim.y * blockDim.x >> 5;
    for (int a = w; a < s; a += warps) {
        int *row = P + (long long)q[a] * g;
        const int *from = C + (long long)(x + a) * f + x;
        for (int b = lane; b < s; b += 32) row[q[b]] = min(row[q[b]], from[b]);
    }
}

// Floyd and Warshall with the front's own vertices as pivots, in shared memory
extern "C" __global__ void __launch_bounds__(512) eliminate_small(int *front, const long long *off, const int *nx, const int *ns, int first)
{
    DYNAMIC_SHARED(int, M);
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j], ld = f | 1;
    int *G = front + off[j];
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (int r = w; r < f; r += warps)
        for (int c = lane; c < f; c += 32) M[r * ld + c] = G[(long long)r * f + c];
    __syncthreads();
    for (int k = 0; k < x; k++) {
        for (int i = w; i < f; i += warps) {
            int a = M[i * ld + k];
            if (a < FAR_LABEL)
                for (int c = lane; c < f; c += 32) ADD_MIN(M[i * ld + c], a, M[k * ld + c]);
        }
        __syncthreads();
    }
    for (int r = w; r < f; r += warps)
        for (int c = lane; c < f; c += 32) G[(long long)r * f + c] = M[r * ld + c];
}

// The same for large fronts, 32 pivots from k0 at a time: the pivots themselves, their rows and columns, the rest.
extern "C" __global__ void __launch_bounds__(256) eliminate_pivots(int *front, const long long *off, const int *nx, const int *ns, int first, int k0)
{
    __shared__ int A[32][33];
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j];
    if (k0 >= x) return;
    int b = min(32, x - k0);
    int *G = front + off[j];
    for (int i = threadIdx.x; i < 1024; i += 256) {
        int r = i >> 5, c = i & 31;
        A[r][c] = (r < b && c < b) ? G[(long long)(k0 + r) * f + k0 + c] : FAR_LABEL;
    }
    __syncthreads();
    for (int k = 0; k < b; k++) {
        for (int i = threadIdx.x; i < 1024; i += 256) ADD_MIN(A[i >> 5][i & 31], A[i >> 5][k], A[k][i & 31]);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 1024; i += 256) {
        int r = i >> 5, c = i & 31;
        if (r < b && c < b) G[(long long)(k0 + r) * f + k0 + c] = A[r][c];
    }
}
extern "C" __global__ void __launch_bounds__(256) eliminate_panel(int *front, const long long *off, const int *nx, const int *ns, int first, int k0)
{
    __shared__ int A[32][33], P[64][33];
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j], r0 = blockIdx.y * 64;
    if (k0 >= x || r0 >= f) return;
    int b = min(32, x - k0);
    int *G = front + off[j];
    for (int i = threadIdx.x; i < 1024; i += 256) {
        int r = i >> 5, c = i & 31;
        A[r][c] = (r < b && c < b) ? G[(long long)(k0 + r) * f + k0 + c] : FAR_LABEL;
    }
    for (int i = threadIdx.x; i < 2048; i += 256) {
        int r = i >> 5, c = i & 31;
        P[r][c] = (r0 + r < f && c < b) ? G[(long long)(r0 + r) * f + k0 + c] : FAR_LABEL;
    }
    __syncthreads();
    int best[8], c = threadIdx.x & 31, r = threadIdx.x >> 5;
#pragma unroll
    for (int t = 0; t < 8; t++) {
        best[t] = P[r + 8 * t][c];
        for (int k = 0; k < 32; k++) ADD_MIN(best[t], P[r + 8 * t][k], A[k][c]);
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < 8; t++) P[r + 8 * t][c] = best[t];
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += 256) {  // the rows, then the columns: both with neighbouring threads side by side
        int rr = i >> 5, cc = i & 31, row = r0 + rr;
        if (row < f && cc < b && (row < k0 || row >= k0 + b)) G[(long long)row * f + k0 + cc] = P[rr][cc];
    }
    for (int i = threadIdx.x; i < 2048; i += 256) {
        int cc = i >> 6, rr = i & 63, row = r0 + rr;
        if (row < f && cc < b && (row < k0 || row >= k0 + b)) G[(long long)(k0 + cc) * f + row] = P[rr][cc];
    }
}
extern "C" __global__ void __launch_bounds__(256) eliminate_rest(int *front, const long long *off, const int *nx, const int *ns, int first, int k0)
{
    __shared__ int A[32][65], B[32][65];
    int j = first + blockIdx.x, x = nx[j], f = x + ns[j], r0 = blockIdx.y * 64, c0 = blockIdx.z * 64;
    if (k0 >= x || r0 >= f || c0 >= f) return;
    int b = min(32, x - k0);
    int *G = front + off[j];
    for (int i = threadIdx.x; i < 2048; i += 256) {
        int r = i >> 5, c = i & 31;
        A[c][r] = (r0 + r < f && c < b) ? G[(long long)(r0 + r) * f + k0 + c] : FAR_LABEL;
        B[c][r] = (c0 + r < f && c < b) ? G[(long long)(c0 + r) * f + k0 + c] : FAR_LABEL;
    }
    __syncthreads();
    int tx = threadIdx.x & 15, ty = threadIdx.x >> 4, best[4][4];
#pragma unroll
    for (int p = 0; p < 16; p++) best[p >> 2][p & 3] = FAR_LABEL;
    for (int k = 0; k < b; k++) {
        int a[4], d[4];
#pragma unroll
        for (int p = 0; p < 4; p++) { a[p] = A[k][ty + 16 * p]; d[p] = B[k][tx + 16 * p]; }
#pragma unroll
        for (int p = 0; p < 16; p++) ADD_MIN(best[p >> 2][p & 3], a[p >> 2], d[p & 3]);
    }
#pragma unroll
    for (int p = 0; p < 16; p++) {
        int r = r0 + ty + 16 * (p >> 2), c = c0 + tx + 16 * (p & 3);
        if (r < f && c < f && (r < k0 || r >= k0 + b) && (c < k0 || c >= k0 + b)) {
            long long at = (long long)r * f + c;
            if (best[p >> 2][p & 3] < G[at]) G[at] = best[p >> 2][p & 3];
        }
    }
}

// A tile of a node's rows for the sweep: packed[k][rows] = F[row0 + r][boundary k], k filled up to a multiple of 8.
extern "C" __global__ void pack_rows(const int *front, const long long *off, const int *nx, const int *ns, const int *tile_node, const int *tile_row, const long long *tile_at,
                                     int rows, int *packed)
{
    int j = tile_node[blockIdx.x], r0 = tile_row[blockIdx.x], x = nx[j], s = ns[j], f = x + s, filled = (s + 7) & ~7;
    const int *F = front + off[j];
    int *P = packed + tile_at[blockIdx.x];
    for (int i = threadIdx.x; i < filled * rows; i += blockDim.x) {
        int k = i / rows, r = i - k * rows;
        P[i] = (k < s && r0 + r < x) ? F[(long long)(x + k) * f + r0 + r] : FAR_LABEL;
    }
}

// The sweep: D[y, q] = min over the boundary b of F[y, b] + D[b, q], and inside the node the front itself.
// Rows: one tile of 16 WR; columns: tiles of 128 WC with WC = 4 / WR, `group` of them one after the other, from q0 on.
// Of the whole matrix only lo <= q < hi, q <= y is made, and mirrored. With PANEL the columns are any vertices outside the
// node's subtree, and all of them are made.
#define DEPTH 8
#define STAGES 3
template <int WR, bool PANEL>
static __device__ __forceinline__ void sweep(int *D, long long ld, const int *front, const long long *off, const int *start, const int *nx, const int *ns, const long long *bptr,
                                             const int *bidx, const int *tile_node, const int *tile_row, const long long *tile_at, const int *packed, int lo, int hi, int q0, int group)
{
    constexpr int WC = 4 / WR, TM = 16 * WR, TN = 128 * WC;
    DYNAMIC_SHARED(int, memory);  // B[STAGES][DEPTH][TN], A[STAGES][DEPTH][TM], T[4][64][17]
    int *Bs = memory, *As = memory + STAGES * DEPTH * TN, *T = As + STAGES * DEPTH * TM;
    int j = tile_node[blockIdx.x], r0 = tile_row[blockIdx.x];
    int x = nx[j], s = ns[j], y0 = start[j] + r0, rows = min(TM, x - r0);
    int first = q0 + TN * group * blockIdx.y, last = PANEL ? hi : min(hi, y0 + rows);
    if (first >= last) return;
    int tiles = min(group, (last - first + TN - 1) / TN), chunks = (s + DEPTH - 1) / DEPTH, total = tiles * chunks;
    const int *P = packed + tile_at[blockIdx.x], *bi = bidx + bptr[j];
    int tid = threadIdx.x, lane = tid & 31, w = tid >> 5, wr = w / WC, wc = w % WC, rg = lane >> 4, cg = lane & 15;
    bool busy = wr * 16 < rows;
    int best[8][8];
#pragma unroll
    for (int p = 0; p < 64; p++) best[p >> 3][p & 7] = FAR_LABEL;
    auto load = [&](int it) {
        if (it < total) {
            int tl = it / chunks, k0 = (it - tl * chunks) * DEPTH, buffer = it % STAGES;
            const int *Dc = D + first + TN * tl;
#pragma unroll
            for (int u = 0; u < DEPTH * TN / 512; u++) {
                int i = tid + 128 * u, k = i / (TN / 4), c = 4 * (i % (TN / 4));
                copy16(&Bs[(buffer * DEPTH + k) * TN + c], Dc + (long long)bi[min(k0 + k, s - 1)] * ld + c);
            }
            if (tid < DEPTH * TM / 4) copy16(&As[buffer * DEPTH * TM + 4 * tid], P + (long long)k0 * TM + 4 * tid);
        }
        copy_commit();
    };
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) load(i);
    int it = 0;
    for (int tl = 0; tl < tiles; tl++) {
        for (int kc = 0; kc < chunks; kc++, it++) {
            copy_wait<STAGES - 2>();
            __syncthreads();
            load(it + STAGES - 1);
            if (!busy) continue;
            const int *a_ = As + (it % STAGES) * DEPTH * TM + 16 * wr + 8 * rg, *b_ = Bs + (it % STAGES) * DEPTH * TN + 128 * wc + 4 * cg;
#pragma unroll
            for (int k = 0; k < DEPTH; k++) {
                int4 a0 = *(const int4 *)(a_ + k * TM), a1 = *(const int4 *)(a_ + k * TM + 4);
                int4 b0 = *(const int4 *)(b_ + k * TN), b1 = *(const int4 *)(b_ + k * TN + 64);
                int a[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w}, b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
                for (int p = 0; p < 8; p++)
#pragma unroll
                    for (int q = 0; q < 8; q++) ADD_MIN(best[p][q], a[p], b[q]);
            }
        }
        if (!busy) continue;
        int c0 = first + TN * tl + 128 * wc, y = y0 + 16 * wr, here = min(16, rows - 16 * wr), st = start[j];
        if (!PANEL && c0 < st + x && c0 + 128 > st) {  // columns of the node itself: the front, too
            const int *F = front + off[j];
#pragma unroll
            for (int p = 0; p < 8; p++)
#pragma unroll
                for (int q = 0; q < 8; q++) {
                    int own = c0 + 4 * cg + (q & 3) + 16 * (q & 4) - st, r = 8 * rg + p;
                    if (r < here && own >= 0 && own < x) best[p][q] = min(best[p][q], F[(long long)(y - st + r) * (x + s) + own]);
                }
        }
        bool whole = PANEL || (c0 >= lo && c0 + 128 <= hi && c0 + 127 < y);  // all columns wanted and below the diagonal
#pragma unroll
        for (int p = 0; p < 8; p++) {
            int r = 8 * rg + p;
            if (r >= here) continue;
            int *row = D + (long long)(y + r) * ld + c0 + 4 * cg;
            if (whole) {
                *(int4 *)row = int4{best[p][0], best[p][1], best[p][2], best[p][3]};
                *(int4 *)(row + 64) = int4{best[p][4], best[p][5], best[p][6], best[p][7]};
            } else {
#pragma unroll
                for (int q = 0; q < 8; q++) {
                    int c = (q & 3) + 16 * (q & 4), col = c0 + 4 * cg + c;
                    if (col >= lo && col < hi && col <= y + r) row[c] = best[p][q];
                }
            }
        }
        if (!PANEL) {
            int *Tw = T + w * 64 * 17;
#pragma unroll
            for (int half = 0; half < 2; half++) {
                __syncwarp();
#pragma unroll
                for (int q = 0; q < 4; q++)
#pragma unroll
                    for (int p = 0; p < 8; p++) Tw[(4 * cg + q) * 17 + 8 * rg + p] = best[p][4 * half + q];
                __syncwarp();
                int r = lane & 15;
#pragma unroll 8
                for (int c = lane >> 4; c < 64; c += 2) {
                    int col = c0 + 64 * half + c;
                    if (r < here && (whole || (col >= lo && col < hi && col < y + r))) D[(long long)col * ld + y + r] = Tw[c * 17 + r];
                }
            }
        }
#pragma unroll
        for (int p = 0; p < 64; p++) best[p >> 3][p & 7] = FAR_LABEL;
    }
}
extern "C" __global__ void __launch_bounds__(128, 4) sweep1(int *D, long long ld, const int *front, const long long *off, const int *start, const int *nx, const int *ns, const long long *bptr, const int *bidx, const int *tile_node, const int *tile_row, const long long *tile_at, const int *packed, int lo, int hi, int q0, int group)
{
    sweep<1, false>(D, ld, front, off, start, nx, ns, bptr, bidx, tile_node, tile_row, tile_at, packed, lo, hi, q0, group);
}
extern "C" __global__ void __launch_bounds__(128, 4) sweep2(int *D, long long ld, const int *front, const long long *off, const int *start, const int *nx, const int *ns, const long long *bptr, const int *bidx, const int *tile_node, const int *tile_row, const long long *tile_at, const int *packed, int lo, int hi, int q0, int group)
{
    sweep<2, false>(D, ld, front, off, start, nx, ns, bptr, bidx, tile_node, tile_row, tile_at, packed, lo, hi, q0, group);
}
extern "C" __global__ void __launch_bounds__(128, 4) sweep4(int *D, long long ld, const int *front, const long long *off, const int *start, const int *nx, const int *ns, const long long *bptr, const int *bidx, const int *tile_node, const int *tile_row, const long long *tile_at, const int *packed, int lo, int hi, int q0, int group)
{
    sweep<4, false>(D, ld, front, off, start, nx, ns, bptr, bidx, tile_node, tile_row, tile_at, packed, lo, hi, q0, group);
}
extern "C" __global__ void __launch_bounds__(128, 4) spread1(int *D, long long ld, const int *front, const long long *off, const int *start, const int *nx, const int *ns, const long long *bptr, const int *bidx, const int *tile_node, const int *tile_row, const long long *tile_at, const int *packed, int lo, int hi, int q0, int group)
{
    sweep<1, true>(D, ld, front, off, start, nx, ns, bptr, bidx, tile_node, tile_row, tile_at, packed, lo, hi, q0, group);
}
extern "C" __global__ void __launch_bounds__(128, 4) spread2(int *D, long long ld, const int *front, const long long *off, const int *start, const int *nx, const int *ns, const long long *bptr, const int *bidx, const int *tile_node, const int *tile_row, const long long *tile_at, const int *packed, int lo, int hi, int q0, int group)
{
    sweep<2, true>(D, ld, front, off, start, nx, ns, bptr, bidx, tile_node, tile_row, tile_at, packed, lo, hi, q0, group);
}
extern "C" __global__ void __launch_bounds__(128, 4) spread4(int *D, long long ld, const int *front, const long long *off, const int *start, const int *nx, const int *ns, const long long *bptr, const int *bidx, const int *tile_node, const int *tile_row, const long long *tile_at, const int *packed, int lo, int hi, int q0, int group)
{
    sweep<4, true>(D, ld, front, off, start, nx, ns, bptr, bidx, tile_node, tile_row, tile_at, packed, lo, hi, q0, group);
}
