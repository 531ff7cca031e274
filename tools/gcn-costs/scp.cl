#include "gcn.h"

KERNEL(256) void scalarProdGPU(global float *restrict c, global const float *restrict a, global const float *restrict b, uint vectors, uint elements) {
    local float sums[1024];
    uint t = THREAD_X;
#pragma unroll 1
    for (uint v = GROUP_X; v < vectors; v += 128) {
        uint base = elements * v, end = base + elements;
#pragma unroll 1
        for (uint slot = t; slot < 1024; slot += 256) {
            float sum = 0;
#pragma unroll 1
            for (uint i = base + slot; i < end; i += 1024) sum += a[i] * b[i];
            sums[slot] = sum;
        }
#pragma unroll 1
        for (uint stride = 512; stride > 0; stride >>= 1) {
            BARRIER;
#pragma unroll 1
            for (uint slot = t; slot < stride; slot += 256) sums[slot] += sums[stride + slot];
        }
        BARRIER;
        if (t == 0) c[v] = sums[0];
    }
}
