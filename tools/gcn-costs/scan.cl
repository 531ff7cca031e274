#include "gcn.h"

KERNEL(256) void reduce(global const float *restrict in, global float *restrict sums_out, uint count, uint groups) {
    local volatile float sums[256];
    uint t = THREAD_X, region = count / 4 / groups * 4, start = GROUP_X * region;
    uint stop = GROUP_X == groups - 1 ? count : start + region;
    float sum = 0;
#pragma unroll 1
    for (uint i = start + t; i < stop; i += 256) sum += in[i];
    sums[t] = sum;
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
    if (t == 0) sums_out[GROUP_X] = sums[0];
}

static inline float scan_in_group(float value, local volatile float *places) {
    uint t = THREAD_X;
    places[t] = 0;
    places[t + 256] = value;
    BARRIER;
#pragma unroll
    for (uint step = 1; step < 256; step *= 2) {
        float before = places[t + 256 - step];
        BARRIER;
        places[t + 256] += before;
        BARRIER;
    }
    return places[t + 255];
}

KERNEL(256) void scan_single_block(global float *restrict sums, uint count) {
    local float places[512];
    uint t = THREAD_X;
    float value = t < count ? sums[t] : 0;
    value = scan_in_group(value, places);
    if (t < count) sums[t] = value;
}

KERNEL(256) void bottom_scan(global const float4 *restrict in, global float4 *restrict out, global const float *restrict sums, uint count, uint groups) {
    local float places[512];
    local volatile float seed;
    uint t = THREAD_X, region = count / 4 / groups, start = GROUP_X * region;
    uint stop = GROUP_X == groups - 1 ? count / 4 : start + region;
    uint i = start + t;
    if (t == 0) seed = sums[GROUP_X];
#pragma unroll 1
    for (uint window = start; window < stop; window += 256) {
        float4 v = 0;
        if (i < stop) v = in[i];
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        float before = scan_in_group(v.w, places) + seed;
        v += before;
        if (i < stop) out[i] = v;
        if (t == 255) seed = v.w;
        i += 256;
    }
}
