// Half precision as the host sees it.
#pragma once
#include "cuda_runtime.h"
#define __CUDA_FP16_H__
#include "octavo_stub/small_floats.h"
OCTAVO_SMALL_FLOAT(__half, __half2, half)
typedef __half half;
typedef __half2 half2;
#undef OCTAVO_SMALL_FLOAT
