#include "gcn.h"

KERNEL(256) void reduce(global const float *restrict in, global float *restrict out, uint count, uint groups) {
    local volatile float sums[256];
    uint t = THREAD_X;
    sums[t] = 0;
#pragma unroll 1
    for (uint i = GROUP_X * 512 + t; i < count; i += 512 * groups) sums[t] += in[i] + in[i + 256];
    BARRIER;
    if (t < 128) sums[t] += sums[t + 128];
    BARRIER;
    if (t < 64) sums[t] += sums[t + 64];
    BARRIER;
    if (t < 32) {
        sums[t] += sums[t + 32];
        sums[t] += sums[t + 16];
        sums[t] += sums[t + 8];
        sums[t] += sums[t + 4];
        sums[t] += sums[t + 2];
        sums[t] += sums[t + 1];
    }
    if (t == 0) out[GROUP_X] = sums[0];
}
