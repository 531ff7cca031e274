#include "gcn.h"

#define AT(x, y, z) ((x) + nx * ((y) + ny * (z)))

KERNEL_2D(32, 4) void block2D_hybrid_coarsen_x(float c0, float c1, global const float *restrict a, global float *restrict next, int nx, int ny, int nz) {
    local float s[4 * 64];
    int tx = THREAD_X, ty = THREAD_Y;
    int i = GROUP_X * 64 + tx, i2 = i + 32, j = GROUP_Y * 4 + ty, id = tx + ty * 64, id2 = id + 32;
    s[id] = 0;
    s[id2] = 0;
    BARRIER;
    bool inner = i > 0 && j > 0 && i < nx - 1 && j < ny - 1, inner2 = j > 0 && i2 < nx - 1 && j < ny - 1;
    bool left = tx == 0, right = tx == 31, low = ty == 0, high = ty == 3;
    float bottom = 0, bottom2 = 0, top = 0, top2 = 0;
    if (i < nx && j < ny) {
        bottom = a[AT(i, j, 0)];
        s[id] = a[AT(i, j, 1)];
    }
    if (i2 < nx && j < ny) {
        bottom2 = a[AT(i2, j, 0)];
        s[id2] = a[AT(i2, j, 1)];
    }
    BARRIER;
#pragma unroll 1
    for (int k = 1; k < nz - 1; k++) {
        if (i < nx && j < ny) top = a[AT(i, j, k + 1)];
        if (inner) {
            float w = left ? a[AT(i - 1, j, k)] : s[id - 1];
            float d = low ? a[AT(i, j - 1, k)] : s[id - 64];
            float u = high ? a[AT(i, j + 1, k)] : s[id + 64];
            next[AT(i, j, k)] = (w + s[id + 1] + u + d + top + bottom) * c1 - s[id] * c0;
        }
        if (i2 < nx && j < ny) top2 = a[AT(i2, j, k + 1)];
        if (inner2) {
            float e = right ? a[AT(i2 + 1, j, k)] : s[id2 + 1];
            float d = low ? a[AT(i2, j - 1, k)] : s[id2 - 64];
            float u = high ? a[AT(i2, j + 1, k)] : s[id2 + 64];
            next[AT(i2, j, k)] = (e + s[id2 - 1] + u + d + top2 + bottom2) * c1 - s[id2] * c0;
        }
        BARRIER;
        bottom = s[id];
        s[id] = top;
        bottom2 = s[id2];
        s[id2] = top2;
        BARRIER;
    }
}
