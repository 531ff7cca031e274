#include "gcn.h"

KERNEL(256) void fwtBatch2Kernel(global float *data, uint stride, uint size) {
    uint t = GROUP_X * 256 + THREAD_X, low = t & (stride - 1), i = ((t - low) << 2) + low;
    global float *p = data + GROUP_Y * size;
    float a = p[i], b = p[i + stride], c = p[i + 2 * stride], d = p[i + 3 * stride];
    float ac = a + c, bd = b + d, am = a - c, bm = b - d;
    p[i] = ac + bd;
    p[i + stride] = ac - bd;
    p[i + 2 * stride] = am + bm;
    p[i + 3 * stride] = am - bm;
}

KERNEL(512) void fwtBatch1Kernel(global float *data, uint log2) {
    local float s[2048];
    uint size = 1u << log2, t = THREAD_X;
    global float *p = data + (GROUP_X << log2);
#pragma unroll 1
    for (uint i = t; i < size; i += size / 4) s[i] = p[i];
#pragma unroll 1
    for (uint stride = size >> 2; stride > 0; stride >>= 2) {
        uint low = t & (stride - 1), i = ((t - low) << 2) + low;
        BARRIER;
        float a = s[i], b = s[i + stride], c = s[i + 2 * stride], d = s[i + 3 * stride];
        float ac = a + c, bd = b + d, am = a - c, bm = b - d;
        s[i] = ac + bd;
        s[i + stride] = ac - bd;
        s[i + 2 * stride] = am + bm;
        s[i + 3 * stride] = am - bm;
    }
    if (log2 & 1) {
        BARRIER;
#pragma unroll 1
        for (uint i = t; i < size / 2; i += size / 4) {
            float a = s[2 * i], b = s[2 * i + 1];
            s[2 * i] = a + b;
            s[2 * i + 1] = a - b;
        }
    }
    BARRIER;
#pragma unroll 1
    for (uint i = t; i < size; i += size / 4) p[i] = s[i];
}

KERNEL(256) void modulateKernel(global float *a, global const float *b, uint size) {
    float reciprocal = 1.0f / size;
#pragma unroll 1
    for (uint i = GROUP_X * 256 + THREAD_X; i < size; i += 128 * 256) a[i] *= b[i] * reciprocal;
}
