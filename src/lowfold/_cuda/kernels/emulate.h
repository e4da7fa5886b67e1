// CUDA's words on a CPU: one block at a time, each thread a fiber. For checking kernels where there is no GPU.
//
// A fiber runs until it meets a barrier; the scheduler lets a warp (or the block) go on when all its living threads have
// come there. Fibers are entered by setcontext and switched by longjmp, which makes no system call. Shared memory is
// static storage, because only one block exists at a time. Launches are not re-entrant.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __restrict__
#define __launch_bounds__(...)
#define DYNAMIC_SHARED(T, name) T *name = (T *)emulated::shared

struct Dim { unsigned x, y, z; };
struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) int4 { int x, y, z, w; };
static inline float2 make_float2(float a, float b) { return {a, b}; }
static inline float4 make_float4(float a, float b, float c, float d) { return {a, b, c, d}; }
static Dim gridDim, blockDim, blockIdx, threadIdx;

namespace emulated {
constexpr size_t STACK = 1 << 17;
struct Fiber {
    ucontext_t context;
    jmp_buf place;
    bool entered;
    Dim index;
    int number;
    bool alive, at_block, at_warp;
    void *fake;  // AddressSanitizer's own stack
};
static std::vector<Fiber> fibers;
static std::vector<char *> stacks;
static ucontext_t scheduler;
static jmp_buf scheduler_place;
static void *scheduler_fake;
static const void *scheduler_stack;
static size_t scheduler_size;
static int current;
static const std::function<void()> *body;
static char *shared;
static uint64_t exchange[64][32];

#if defined(__SANITIZE_ADDRESS__)
// The built-in jumps are not intercepted; the sanitizer is told of every change of stacks instead.
#define SAVE_PLACE(place) __builtin_setjmp((void **)(place))
#define JUMP_TO(place) __builtin_longjmp((void **)(place), 1)
#define LEAVING(fake, stack, size) __sanitizer_start_switch_fiber(fake, stack, size)
#define ARRIVED(fake, stack, size) __sanitizer_finish_switch_fiber(fake, stack, size)
#else
#define SAVE_PLACE(place) _setjmp(place)
#define JUMP_TO(place) _longjmp(place, 1)
#define LEAVING(fake, stack, size)
#define ARRIVED(fake, stack, size)
#endif
__attribute__((noinline)) static void to_scheduler() { JUMP_TO(scheduler_place); }
__attribute__((noinline)) static void to_fiber(int i) { JUMP_TO(fibers[i].place); }
__attribute__((noinline)) static void leave(bool last)
{
    LEAVING(last ? nullptr : &fibers[current].fake, scheduler_stack, scheduler_size);
    if (last || !SAVE_PLACE(fibers[current].place)) to_scheduler();
    ARRIVED(fibers[current].fake, &scheduler_stack, &scheduler_size);
}
static void enter()
{
    ARRIVED(nullptr, &scheduler_stack, &scheduler_size);
    (*body)();
    fibers[current].alive = false;
    leave(true);
}
__attribute__((noinline)) static void resume(int i)
{
    current = i;
    threadIdx = fibers[i].index;
    LEAVING(&scheduler_fake, stacks[i], STACK);
    if (!SAVE_PLACE(scheduler_place)) {
        if (fibers[i].entered) to_fiber(i);
        fibers[i].entered = true;
        setcontext(&fibers[i].context);
    }
    ARRIVED(scheduler_fake, nullptr, nullptr);
}
static inline void wait_for_others()
{
    int me = current;
    leave(false);
    current = me;
    threadIdx = fibers[me].index;
}
static inline unsigned lane() { return fibers[current].number & 31; }
static inline unsigned warp() { return fibers[current].number >> 5; }

// One block to its end; false where threads wait for one another forever.
static bool run_block(int n)
{
    for (;;) {
        bool moved = false;
        for (int i = 0; i < n; i++)
            if (fibers[i].alive && !fibers[i].at_block && !fibers[i].at_warp) {
                moved = true;
                resume(i);
            }
        for (int w = 0; w < n; w += 32) {
            int alive = 0, waiting = 0, end = std::min(n, w + 32);
            for (int i = w; i < end; i++) {
                alive += fibers[i].alive;
                waiting += fibers[i].alive && fibers[i].at_warp;
            }
            if (alive && waiting == alive) {
                for (int i = w; i < end; i++) fibers[i].at_warp = false;
                moved = true;
            }
        }
        int alive = 0, waiting = 0;
        for (int i = 0; i < n; i++) {
            alive += fibers[i].alive;
            waiting += fibers[i].alive && fibers[i].at_block;
        }
        if (!alive) return true;
        if (waiting == alive) {
            for (int i = 0; i < n; i++) fibers[i].at_block = false;
            moved = true;
        }
        if (!moved) return false;
    }
}

static int launch(Dim grid, Dim block, size_t bytes, const std::function<void()> &kernel)
{
    gridDim = grid;
    blockDim = block;
    body = &kernel;
    int n = block.x * block.y * block.z;
    fibers.resize(n);
    while ((int)stacks.size() < n) stacks.push_back((char *)malloc(STACK));
    shared = (char *)aligned_alloc(128, (bytes + 255) / 128 * 128);
    bool ended = true;
    for (unsigned z = 0; z < grid.z && ended; z++)
        for (unsigned y = 0; y < grid.y && ended; y++)
            for (unsigned x = 0; x < grid.x && ended; x++) {
                blockIdx = {x, y, z};
                memset(shared, 0x7f, bytes);
                for (int i = 0; i < n; i++) {
                    Fiber &f = fibers[i];
                    f.number = i;
                    f.index = {i % block.x, (i / block.x) % block.y, i / (block.x * block.y)};
                    f.alive = true;
                    f.entered = false;
                    f.at_block = f.at_warp = false;
                    f.fake = nullptr;
                    getcontext(&f.context);
                    f.context.uc_stack.ss_sp = stacks[i];
                    f.context.uc_stack.ss_size = STACK;
                    f.context.uc_link = &scheduler;
                    makecontext(&f.context, enter, 0);
                }
                ended = run_block(n);
            }
    free(shared);
    return ended ? 0 : 1;
}
}  // namespace emulated

static inline void __syncthreads()
{
    emulated::fibers[emulated::current].at_block = true;
    emulated::wait_for_others();
}
static inline void __syncwarp(unsigned = 0xffffffffu)
{
    emulated::fibers[emulated::current].at_warp = true;
    emulated::wait_for_others();
}
template <class T> static inline T __shfl_sync(unsigned, T value, int source)
{
    unsigned l = emulated::lane(), w = emulated::warp();
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    emulated::exchange[w][l] = bits;
    __syncwarp();
    T result;
    memcpy(&result, &emulated::exchange[w][source & 31], sizeof(T));
    __syncwarp();
    return result;
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int x)
{
    return __shfl_sync(mask, value, (int)(emulated::lane() ^ x));
}
static inline unsigned __ballot_sync(unsigned, int predicate)
{
    unsigned l = emulated::lane(), w = emulated::warp(), result = 0;
    for (int i = l == 0 ? 0 : 32; i < 32; i++) emulated::exchange[w][i] = 0;  // lanes that have ended count as no
    __syncwarp();
    emulated::exchange[w][l] = predicate != 0;
    __syncwarp();
    for (int i = 0; i < 32; i++) result |= (unsigned)emulated::exchange[w][i] << i;
    __syncwarp();
    return result;
}
static inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
static inline int atomicAdd(int *p, int v)  // shared counters only: one fiber at a time
{
    int old = *p;
    *p = old + v;
    return old;
}
static inline int atomicMin(int *p, int v)
{
    int old = *p;
    *p = old < v ? old : v;
    return old;
}
static inline int __float_as_int(float f)
{
    int i;
    memcpy(&i, &f, 4);
    return i;
}
static inline float __int_as_float(int i)
{
    float f;
    memcpy(&f, &i, 4);
    return f;
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline long long min(long long a, long long b) { return a < b ? a : b; }
static inline int __viaddmin_s32(int a, int b, int c) { return std::min((int)((unsigned)a + (unsigned)b), c); }
static inline float reciprocal(float x) { return 1.0f / x; }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }

// Asynchronous copies of 16 bytes arrive at once.
static inline void copy16(void *to, const void *from) { memcpy(to, from, 16); }
static inline void copy_commit() {}
template <int N> static inline void copy_wait() {}

// Tensor cores, by the layout of their fragments.
namespace emulated {
static unsigned fragment[64][32][6];
static double fragment64[64][32][2];
static inline float half_to_float(unsigned short bits)
{
    _Float16 f;
    memcpy(&f, &bits, 2);
    return (float)f;
}
}  // namespace emulated
static inline void mma_f16(float *c, const unsigned *a, const unsigned *b)
{
    unsigned l = emulated::lane(), w = emulated::warp();
    for (int i = 0; i < 4; i++) emulated::fragment[w][l][i] = a[i];
    for (int i = 0; i < 2; i++) emulated::fragment[w][l][4 + i] = b[i];
    __syncwarp();
    for (int rr = 0; rr < 2; rr++)
        for (int cc = 0; cc < 2; cc++) {
            int row = (l >> 2) + 8 * rr, col = 2 * (l & 3) + cc;
            float s = c[2 * rr + cc];
            for (int k = 0; k < 16; k++) {
                int pair = (k & 7) >> 1, shift = 16 * (k & 1), half = k >> 3;
                unsigned av = emulated::fragment[w][(row & 7) * 4 + pair][(row >> 3) + 2 * half];
                unsigned bv = emulated::fragment[w][col * 4 + pair][4 + half];
                s += emulated::half_to_float((unsigned short)(av >> shift)) *
                     emulated::half_to_float((unsigned short)(bv >> shift));
            }
            c[2 * rr + cc] = s;
        }
    __syncwarp();
}
static inline void load_matrices(unsigned *r, const void *p)
{
    unsigned l = emulated::lane(), w = emulated::warp();
    emulated::exchange[w][l] = (uint64_t)p;
    __syncwarp();
    for (int m = 0; m < 4; m++)
        memcpy(&r[m], (const char *)emulated::exchange[w][8 * m + (l >> 2)] + 4 * (l & 3), 4);
    __syncwarp();
}
static inline void mma_f64(double *c, double a, double b)
{
    unsigned l = emulated::lane(), w = emulated::warp();
    emulated::fragment64[w][l][0] = a;
    emulated::fragment64[w][l][1] = b;
    __syncwarp();
    for (int cc = 0; cc < 2; cc++) {
        int row = l >> 2, col = 2 * (l & 3) + cc;
        double s = c[cc];
        for (int k = 0; k < 4; k++)
            s += emulated::fragment64[w][row * 4 + k][0] * emulated::fragment64[w][col * 4 + k][1];
        c[cc] = s;
    }
    __syncwarp();
}
