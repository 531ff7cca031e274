// What kernels use: where a thread is, barriers, atomics, warps, arithmetic.
#pragma once

extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;

__device__ void __syncthreads();
__device__ int __syncthreads_count(int predicate);
__device__ int __syncthreads_and(int predicate);
__device__ int __syncthreads_or(int predicate);
__device__ void __syncwarp(unsigned mask = 0xffffffff);
__device__ void __threadfence();
__device__ void __threadfence_block();
__device__ void __threadfence_system();
__device__ long long clock64();
__device__ long clock();
__device__ void __trap();

#define OCTAVO_ATOMIC(name)                                                                                           \
    __device__ int name(int*, int);                                                                                   \
    __device__ unsigned int name(unsigned int*, unsigned int);                                                        \
    __device__ unsigned long long name(unsigned long long*, unsigned long long);
OCTAVO_ATOMIC(atomicAdd)
OCTAVO_ATOMIC(atomicMin)
OCTAVO_ATOMIC(atomicMax)
OCTAVO_ATOMIC(atomicAnd)
OCTAVO_ATOMIC(atomicOr)
OCTAVO_ATOMIC(atomicXor)
OCTAVO_ATOMIC(atomicExch)
OCTAVO_ATOMIC(atomicAdd_system)
OCTAVO_ATOMIC(atomicExch_system)
#undef OCTAVO_ATOMIC
__device__ float atomicAdd(float*, float);
__device__ double atomicAdd(double*, double);
__device__ float atomicExch(float*, float);
__device__ int atomicSub(int*, int);
__device__ unsigned int atomicSub(unsigned int*, unsigned int);
__device__ unsigned int atomicInc(unsigned int*, unsigned int);
__device__ unsigned int atomicDec(unsigned int*, unsigned int);
__device__ int atomicCAS(int*, int, int);
__device__ unsigned int atomicCAS(unsigned int*, unsigned int, unsigned int);
__device__ unsigned long long atomicCAS(unsigned long long*, unsigned long long, unsigned long long);

template <typename T>
__device__ T __ldg(const T*);
template <typename T>
__device__ T __shfl_sync(unsigned, T, int, int = 32);
template <typename T>
__device__ T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <typename T>
__device__ T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <typename T>
__device__ T __shfl_xor_sync(unsigned, T, int, int = 32);
__device__ int __any_sync(unsigned, int);
__device__ int __all_sync(unsigned, int);
__device__ unsigned __ballot_sync(unsigned, int);
__device__ unsigned __activemask();
__device__ int __popc(unsigned);
__device__ int __popcll(unsigned long long);
__device__ int __clz(int);
__device__ int __ffs(int);
__device__ unsigned __brev(unsigned);
__device__ int __mul24(int, int);
__device__ unsigned __umul24(unsigned, unsigned);
__device__ float __int_as_float(int);
__device__ int __float_as_int(float);
__device__ float __fdividef(float, float);
__device__ float __expf(float);
__device__ float __log2f(float);
__device__ float __log10f(float);
__device__ float __tanf(float);
__device__ float __exp10f(float);
__device__ float __logf(float);
__device__ float __sinf(float);
__device__ float __cosf(float);
__device__ float __powf(float, float);
__device__ float __fmaf_rn(float, float, float);
__device__ float rsqrtf(float);
__device__ double rsqrt(double);
template <typename T>
__device__ T __saturatef(T);

// The host's own are declared in <math.h>; these are the device's.
#define OCTAVO_MATH_1(name)                                                                                           \
    __device__ float name##f(float);                                                                                  \
    __device__ double name(double);                                                                                   \
    __device__ float name(float);
#define OCTAVO_MATH_2(name)                                                                                           \
    __device__ float name##f(float, float);                                                                           \
    __device__ double name(double, double);                                                                           \
    __device__ float name(float, float);
OCTAVO_MATH_1(sqrt)
OCTAVO_MATH_1(cbrt)
OCTAVO_MATH_1(exp)
OCTAVO_MATH_1(exp2)
OCTAVO_MATH_1(expm1)
OCTAVO_MATH_1(log)
OCTAVO_MATH_1(log2)
OCTAVO_MATH_1(log10)
OCTAVO_MATH_1(log1p)
OCTAVO_MATH_1(sin)
OCTAVO_MATH_1(cos)
OCTAVO_MATH_1(tan)
OCTAVO_MATH_1(asin)
OCTAVO_MATH_1(acos)
OCTAVO_MATH_1(atan)
OCTAVO_MATH_1(sinh)
OCTAVO_MATH_1(cosh)
OCTAVO_MATH_1(tanh)
OCTAVO_MATH_1(erf)
OCTAVO_MATH_1(erfc)
OCTAVO_MATH_1(fabs)
OCTAVO_MATH_1(floor)
OCTAVO_MATH_1(ceil)
OCTAVO_MATH_1(round)
OCTAVO_MATH_1(rint)
OCTAVO_MATH_1(trunc)
OCTAVO_MATH_2(pow)
OCTAVO_MATH_2(fmod)
OCTAVO_MATH_2(fmin)
OCTAVO_MATH_2(fmax)
OCTAVO_MATH_2(atan2)
OCTAVO_MATH_2(hypot)
#undef OCTAVO_MATH_1
#undef OCTAVO_MATH_2
__device__ float fmaf(float, float, float);
__device__ double fma(double, double, double);
__device__ int abs(int);
template <typename A, typename B>
__host__ __device__ constexpr auto min(A a, B b) -> decltype(a + b) {
    return a < b ? a : b;
}
template <typename A, typename B>
__host__ __device__ constexpr auto max(A a, B b) -> decltype(a + b) {
    return a < b ? b : a;
}
__device__ int printf(const char*, ...);
