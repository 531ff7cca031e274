// Matrices of a warp, which kernels alone use. See cuda_fp16.h.
#pragma once
#include "cuda_fp16.h"
