#include "gcn.h"



KERNEL_2D(16, 4) void convolutionRowsKernel(global float *restrict out, global const float *restrict in, int width, int pitch, constant float *restrict taps) {
    local float s[4][10 * 16];
    int tx = THREAD_X, ty = THREAD_Y;
    int x = ((int)GROUP_X * 8 - 1) * 16 + tx, y = GROUP_Y * 4 + ty;
    in += y * pitch + x;
    out += y * pitch + x;
#pragma unroll
    for (int i = 1; i < 9; i++) s[ty][tx + i * 16] = in[i * 16];
    s[ty][tx] = x >= 0 ? in[0] : 0;
    s[ty][tx + 9 * 16] = width - x > 9 * 16 ? in[9 * 16] : 0;
    BARRIER;
#pragma unroll
    for (int i = 1; i < 9; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++) sum += taps[8 - j] * s[ty][tx + i * 16 + j];
        out[i * 16] = sum;
    }
}

KERNEL_2D(16, 8) void convolutionColumnsKernel(global float *restrict out, global const float *restrict in, int height, int pitch, constant float *restrict taps) {
    local float s[16][10 * 8 + 1];
    int tx = THREAD_X, ty = THREAD_Y;
    int x = GROUP_X * 16 + tx, y = ((int)GROUP_Y * 8 - 1) * 8 + ty;
    in += y * pitch + x;
    out += y * pitch + x;
#pragma unroll
    for (int i = 1; i < 9; i++) s[tx][ty + i * 8] = in[i * 8 * pitch];
    s[tx][ty] = y >= 0 ? in[0] : 0;
    s[tx][ty + 9 * 8] = height - y > 9 * 8 ? in[9 * 8 * pitch] : 0;
    BARRIER;
#pragma unroll
    for (int i = 1; i < 9; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++) sum += taps[8 - j] * s[tx][ty + i * 8 + j];
        out[i * 8 * pitch] = sum;
    }
}
