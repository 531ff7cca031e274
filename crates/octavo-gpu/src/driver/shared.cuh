// What all kernels share. NVRTC has no standard headers: names of types stand here.

typedef unsigned char u8;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

// The tests run kernels on the host, where the clock is another (OCTAVO_STAND_IN).
//
// Nanoseconds of a clock that all multiprocessors share; its steps are coarse (32 ns to 1 us).
__device__ static inline u64 nanoseconds()
{
#ifdef OCTAVO_STAND_IN
    return stand_in_nanoseconds();
#else
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#endif
}

// Cycles of the multiprocessor's clock.
__device__ static inline u64 cycles() { return clock64(); }

__device__ static inline u64 thread_index() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ static inline u64 thread_count() { return (u64)gridDim.x * blockDim.x; }

// A moment on both clocks.
struct Moment {
    u64 nanoseconds;
    u64 cycles;
};

// When the coarse clock steps next: between two such moments, both clocks have run for exactly the same time.
__device__ static inline Moment next_tick()
{
    const u64 before = nanoseconds();
    u64 now = before;
    while (now == before) now = nanoseconds();
    return {now, cycles()};
}

// Looks random, and differs for different numbers (the last steps of MurmurHash3).
__device__ static inline u32 hash(u32 number)
{
    number = (number ^ number >> 16) * 0x85ebca6bu;
    number = (number ^ number >> 13) * 0xc2b2ae35u;
    return number ^ number >> 16;
}

// One of `of`, by hash.
__device__ static inline u32 random_below(u32 of, u32 number) { return (u32)((u64)hash(number) * of >> 32); }

// The words of what one access reads.
__device__ static inline u32 words(u32 value) { return value; }
__device__ static inline u32 words(uint2 value) { return value.x + value.y; }
__device__ static inline u32 words(uint4 value) { return value.x + value.y + value.z + value.w; }

// Does nothing for so many nanoseconds: meanwhile the host puts what is to be timed into the stream.
extern "C" __global__ void hold(u64 duration)
{
    const u64 until = nanoseconds() + duration;
    while (nanoseconds() < until) {}
}
