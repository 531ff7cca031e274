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
