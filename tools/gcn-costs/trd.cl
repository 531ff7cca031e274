#include "gcn.h"

KERNEL(128) void triad(global const float *restrict a, global const float *restrict b, global float *restrict c, float s) {
    uint i = GROUP_X * 128 + THREAD_X;
    c[i] = a[i] + s * b[i];
}
