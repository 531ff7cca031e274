#include "gcn.h"

KERNEL_2D(16, 16) void srad_cuda_1(global float *restrict ec, global float *restrict wc, global float *restrict nc, global float *restrict sc, global const float *restrict image, global float *restrict cc, int columns, uint groups_x, uint groups_y, float q0) {
    local float centre[16][16], result[16][16], north[16][16], south[16][16], east[16][16], west[16][16];
    int bx = GROUP_X, by = GROUP_Y, tx = THREAD_X, ty = THREAD_Y, corner = columns * 16 * by + 16 * bx, row = corner + columns * ty;
    north[ty][tx] = image[corner + tx - columns];
    south[ty][tx] = image[corner + columns * 16 + tx];
    if (by == 0) north[ty][tx] = image[16 * bx + tx];
    else if (by == groups_y - 1) south[ty][tx] = image[corner + columns * 15 + tx];
    BARRIER;
    west[ty][tx] = image[row - 1];
    east[ty][tx] = image[row + 16];
    if (bx == 0) west[ty][tx] = image[row];
    else if (bx == groups_x - 1) east[ty][tx] = image[row + 15];
    BARRIER;
    centre[ty][tx] = image[row + tx];
    BARRIER;
    float here = centre[ty][tx];
    float n = (ty == 0 ? north[ty][tx] : centre[ty - 1][tx]) - here;
    float s = (ty == 15 ? south[ty][tx] : centre[ty + 1][tx]) - here;
    float w = (tx == 0 ? west[ty][tx] : centre[ty][tx - 1]) - here;
    float e = (tx == 15 ? east[ty][tx] : centre[ty][tx + 1]) - here;
    float g2 = (n * n + s * s + w * w + e * e) / (here * here), l = (n + s + w + e) / here;
    float num = 0.5f * g2 - 0.0625f * (l * l), den = 1 + 0.25f * l, q = num / (den * den);
    den = (q - q0) / (q0 * (1 + q0));
    float c = 1 / (1 + den);
    result[ty][tx] = c < 0 ? 0 : c > 1 ? 1 : c;
    BARRIER;
    cc[row + tx] = result[ty][tx];
    ec[row + tx] = e;
    wc[row + tx] = w;
    sc[row + tx] = s;
    nc[row + tx] = n;
}

KERNEL_2D(16, 16) void srad_cuda_2(global const float *restrict ec, global const float *restrict wc, global const float *restrict nc, global const float *restrict sc, global float *restrict image, global const float *restrict cc, int columns, uint groups_x, uint groups_y, float lambda) {
    local float centre[16][16], coefficient[16][16], result[16][16], south[16][16], east[16][16];
    int bx = GROUP_X, by = GROUP_Y, tx = THREAD_X, ty = THREAD_Y, corner = columns * 16 * by + 16 * bx, row = corner + columns * ty;
    centre[ty][tx] = image[row + tx];
    BARRIER;
    south[ty][tx] = cc[corner + columns * 16 + tx];
    if (by == groups_y - 1) south[ty][tx] = cc[corner + columns * 15 + tx];
    BARRIER;
    east[ty][tx] = cc[row + 16];
    if (bx == groups_x - 1) east[ty][tx] = cc[row + 15];
    BARRIER;
    coefficient[ty][tx] = cc[row + tx];
    BARRIER;
    float here = coefficient[ty][tx];
    float s = ty == 15 ? south[ty][tx] : coefficient[ty + 1][tx];
    float e = tx == 15 ? east[ty][tx] : coefficient[ty][tx + 1];
    float sum = here * nc[row + tx] + s * sc[row + tx] + here * wc[row + tx] + e * ec[row + tx];
    result[ty][tx] = centre[ty][tx] + 0.25f * lambda * sum;
    BARRIER;
    image[row + tx] = result[ty][tx];
}
