// Declarations of the CUDA runtime, for reading programs on machines without CUDA: `octavo transform` parses with them.
//
// Only names and types are here, as the public CUDA Runtime API reference gives them; nothing can be linked or run.
// Values of enumerators are those of the reference where programs are known to print them, and otherwise meaningless.
#ifndef OCTAVO_STUB_CUDA_RUNTIME_H
#define OCTAVO_STUB_CUDA_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define CUDART_VERSION 12000
#define CUDART_CB
#define CUDARTAPI

#ifdef __CUDA__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else  // A compiler of C++ sees the side of the host.
#define __host__
#define __device__
#endif
#define __forceinline__ inline __attribute__((always_inline))
#ifndef __noinline__  // Headers of C++ libraries use this name for an attribute of their own.
#define __noinline__ __attribute__((noinline))
#endif
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#include "octavo_stub/types.h"

#include "octavo_stub/host.h"

#ifdef __CUDA__
#include "octavo_stub/device.h"
#endif

#endif
