// Complex numbers as the host sees them. See cuda_runtime.h.
#pragma once
#include "cuda_runtime.h"
#define CU_COMPLEX_H_
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#define OCTAVO_COMPLEX(type, part, end)                                                                               \
    __host__ __device__ part cuCreal##end(type);                                                                      \
    __host__ __device__ part cuCimag##end(type);                                                                      \
    __host__ __device__ part cuCabs##end(type);                                                                       \
    __host__ __device__ type cuConj##end(type);                                                                       \
    __host__ __device__ type cuCadd##end(type, type);                                                                 \
    __host__ __device__ type cuCsub##end(type, type);                                                                 \
    __host__ __device__ type cuCmul##end(type, type);                                                                 \
    __host__ __device__ type cuCdiv##end(type, type);
OCTAVO_COMPLEX(cuFloatComplex, float, f)
OCTAVO_COMPLEX(cuDoubleComplex, double, )
#undef OCTAVO_COMPLEX
__host__ __device__ cuFloatComplex make_cuFloatComplex(float, float);
__host__ __device__ cuDoubleComplex make_cuDoubleComplex(double, double);
__host__ __device__ cuComplex make_cuComplex(float, float);
