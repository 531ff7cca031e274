#include "gcn.h"

kernel void forward(global const float* input, global float* weights, global float* partial, int in, int hid) {
    int by = GROUP_Y, tx = THREAD_X, ty = THREAD_Y;
    int index = (hid + 1) * 16 * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int index_in = 16 * by + ty + 1;
    local float node[16];
    local float m[16][16];
    if (tx == 0) node[ty] = input[index_in];
    BARRIER;
    m[ty][tx] = weights[index];
    BARRIER;
    m[ty][tx] = m[ty][tx] * node[ty];
    BARRIER;
#pragma nounroll
    for (int i = 1; i <= 4; i++) {
        int p = 1 << i;
        if (ty % p == 0) m[ty][tx] = m[ty][tx] + m[ty + p / 2][tx];
        BARRIER;
    }
    weights[index] = m[ty][tx];
    BARRIER;
    if (tx == 0) partial[by * hid + ty] = m[tx][ty];
}

kernel void adjust(global const float* delta, int hid, global const float* ly, int in, global float* w,
                   global float* oldw) {
    int by = GROUP_Y, tx = THREAD_X, ty = THREAD_Y;
    int index = (hid + 1) * 16 * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int iy = 16 * by + ty + 1, ix = tx + 1;
    w[index] += 0.3f * delta[ix] * ly[iy] + 0.3f * oldw[index];
    oldw[index] = 0.3f * delta[ix] * ly[iy] + 0.3f * oldw[index];
    BARRIER;
    if (ty == 0 && by == 0) {
        w[ix] += 0.3f * delta[ix] + 0.3f * oldw[ix];
        oldw[ix] = 0.3f * delta[ix] + 0.3f * oldw[ix];
    }
}
