// States of random numbers, for which programs allocate memory. See cuda_runtime.h.
#pragma once
#include "cuda_runtime.h"
#define CURAND_KERNEL_H_
struct curandStateXORWOW { unsigned int d, v[5]; };
struct curandStateMRG32k3a { unsigned int s1[3], s2[3]; };
struct curandStatePhilox4_32_10 { uint4 counter, output; };
struct curandStateSobol32 { unsigned int i, x, c, vectors[32]; };
struct curandStateScrambledSobol32 { unsigned int i, x, c, vectors[32]; };
typedef struct curandStateXORWOW curandState_t, curandState, curandStateXORWOW_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateSobol32 curandStateSobol32_t;
typedef struct curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef unsigned int curandDirectionVectors32_t[32];
