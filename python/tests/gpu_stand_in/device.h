// CUDA C++ of the probes, made to compile for the host: each thread is a call, one after another.
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define OCTAVO_STAND_IN 1
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)

struct Index {
    unsigned x, y, z;
};
extern Index threadIdx, blockIdx, blockDim, gridDim;

static inline unsigned long long stand_in_nanoseconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

// Two cycles a nanosecond: a clock of 2 GHz, as the description says.
static inline long long clock64() { return (long long)(2 * stand_in_nanoseconds()); }

struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

template <typename T> static inline T atomicAdd(T *at, T value)
{
    T before = *at;
    *at = before + value;
    return before;
}
template <typename T> static inline T atomicMax(T *at, T value)
{
    T before = *at;
    if (value > before) *at = value;
    return before;
}
template <typename T> static inline T atomicMin(T *at, T value)
{
    T before = *at;
    if (value < before) *at = value;
    return before;
}
template <typename T> static inline T __ldg(const T *at) { return *at; }
template <typename T> static inline T __ldcg(const T *at) { return *at; }
template <typename T> static inline T __ldcv(const T *at) { return *at; }
template <typename T> static inline void __stcg(T *at, T value) { *at = value; }
static inline void __threadfence() {}
static inline void __threadfence_system() {}
