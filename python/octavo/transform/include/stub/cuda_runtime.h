// Declarations of the CUDA runtime, for reading programs on machines without CUDA: `octavo transform` parses with them.
//
// Only names and types are here, as the public CUDA Runtime API reference gives them; nothing can be linked or run.
// Values of enumerators are those of the reference where programs are known to print them, and otherwise meaningless.
#ifndef OCTAVO_STUB_CUDA_RUNTIME_H
#define OCTAVO_STUB_CUDA_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

// What the runtime's own header includes, and programs rely on.
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CUDART_VERSION 12000
#define CUDART_CB
#define CUDARTAPI

// Headers of a toolkit that is found beside these declarations: what is declared here is not declared again there.
// Programs ask for the same names.
#define __BUILTIN_TYPES_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_TYPES_H__
#define __DRIVER_FUNCTIONS_H__
#define __DRIVER_TYPES_H__
#define __HOST_DEFINES_H__
#define __SURFACE_TYPES_H__
#define __TEXTURE_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_TYPES_H__

#ifdef __CUDA__
#define __CUDACC__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else  // A compiler of C++ sees the side of the host.
#define __host__
#define __device__
#endif
#define __forceinline__ inline __attribute__((always_inline))
// __noinline__ is a keyword of clang's for CUDA. As a macro it would break headers of C++ libraries, <memory> among them,
// which have it between the parentheses of an attribute.
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#include "octavo_stub/types.h"

#include "octavo_stub/host.h"

#ifdef __CUDA__
#include "octavo_stub/textures.h"

#include "octavo_stub/graphs.h"

#include "octavo_stub/device.h"
#endif

#endif
