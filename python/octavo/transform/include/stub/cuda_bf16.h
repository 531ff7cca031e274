// Brain floats as the host sees them.
#pragma once
#include "cuda_runtime.h"
#define __CUDA_BF16_H__
#include "octavo_stub/small_floats.h"
OCTAVO_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, bfloat16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#undef OCTAVO_SMALL_FLOAT
