#include "gcn.h"

#define inc(place) __sync_fetch_and_add(place, 1u)

kernel void hist(global uint* part, global const uint* data, uint n) {
    local uint h[6 * 256];
    local uint* w = h + (THREAD_X >> 5) * 256;
#pragma unroll
    for (uint i = 0; i < 8; i++) h[THREAD_X + i * 192] = 0;
    BARRIER;
#pragma nounroll
    for (uint p = GROUP_X * 192 + THREAD_X; p < n; p += 192 * 240) {
        uint d = data[p];
        inc(w + (d & 255));
        inc(w + ((d >> 8) & 255));
        inc(w + ((d >> 16) & 255));
        inc(w + (d >> 24));
    }
    BARRIER;
#pragma nounroll
    for (uint bin = THREAD_X; bin < 256; bin += 192) {
        uint s = 0;
        for (uint i = 0; i < 6; i++) s += h[bin + i * 256];
        part[GROUP_X * 256 + bin] = s;
    }
}

kernel void merge(global uint* out, global const uint* part, uint n) {
    local uint data[256];
    uint s = 0;
#pragma nounroll
    for (uint i = THREAD_X; i < n; i += 256) s += part[GROUP_X + i * 256];
    data[THREAD_X] = s;
#pragma nounroll
    for (uint stride = 128; stride > 0; stride >>= 1) {
        BARRIER;
        if (THREAD_X < stride) data[THREAD_X] += data[THREAD_X + stride];
    }
    if (THREAD_X == 0) out[GROUP_X] = data[0];
}
