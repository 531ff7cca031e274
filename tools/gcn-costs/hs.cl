#include "gcn.h"

KERNEL_2D(16, 16) void calculate_temp(int steps, global const float *restrict power, global const float *restrict from, global float *restrict to, int columns, int rows, int border_columns, int border_rows, float capacity, float rx, float ry, float rz, float step) {
    local float heat[16][16], watts[16][16], next[16][16];
    float dt = step / capacity, rx1 = 1 / rx, ry1 = 1 / ry, rz1 = 1 / rz;
    int tx = THREAD_X, ty = THREAD_Y, small = 16 - steps * 2;
    int top = small * (int)GROUP_Y - border_rows, left = small * (int)GROUP_X - border_columns;
    int y = top + ty, x = left + tx, index = columns * y + x;
    if (y >= 0 && y <= rows - 1 && x >= 0 && x <= columns - 1) {
        heat[ty][tx] = from[index];
        watts[ty][tx] = power[index];
    }
    BARRIER;
    int y_min = top < 0 ? -top : 0, y_max = top + 15 > rows - 1 ? 15 - (top + 15 - rows + 1) : 15;
    int x_min = left < 0 ? -left : 0, x_max = left + 15 > columns - 1 ? 15 - (left + 15 - columns + 1) : 15;
    int n = max(ty - 1, y_min), s = min(ty + 1, y_max), w = max(tx - 1, x_min), e = min(tx + 1, x_max);
    bool done = false;
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
        done = tx >= i + 1 && tx <= 14 - i && ty >= i + 1 && ty <= 14 - i && tx >= x_min && tx <= x_max && ty >= y_min && ty <= y_max;
        if (done) {
            float here = heat[ty][tx];
            next[ty][tx] = here + dt * (watts[ty][tx] + (heat[s][tx] + heat[n][tx] - 2.0f * here) * ry1 + (heat[ty][e] + heat[ty][w] - 2.0f * here) * rx1 + (80.0f - here) * rz1);
        }
        BARRIER;
        if (i == steps - 1) break;
        if (done) heat[ty][tx] = next[ty][tx];
        BARRIER;
    }
    if (done) to[index] = next[ty][tx];
}
