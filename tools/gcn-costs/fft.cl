#include "gcn.h"

// Eight points a thread; results come out in bit-reversed order.
#define REVERSED(i) (((i) & 1) * 4 + ((i) & 2) + ((i) >> 2))

static inline float2 times(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

static inline void two(float2 *a, float2 *b) {
    float2 sum = *a + *b;
    *b = *a - *b;
    *a = sum;
}

static inline void four(float2 *a, float2 *b, float2 *c, float2 *d, float sign) {
    two(a, c);
    two(b, d);
    *d = (float2)(-sign * d->y, sign * d->x);
    two(a, b);
    two(c, d);
}

static inline void eight(float2 *a, float sign) {
    for (int i = 0; i < 4; i++) two(a + i, a + i + 4);
    a[5] = times(a[5], (float2)(1, sign)) * 0.70710678f;
    a[6] = (float2)(-sign * a[6].y, sign * a[6].x);
    a[7] = times(a[7], (float2)(-1, sign)) * 0.70710678f;
    four(a, a + 1, a + 2, a + 3, sign);
    four(a + 4, a + 5, a + 6, a + 7, sign);
}

static inline void turn(float2 *a, int i, float n, float sign) {
#pragma unroll
    for (int j = 1; j < 8; j++) {
        float angle = sign * 6.28318531f * REVERSED(j) / n * i;
        a[j] = times(a[j], (float2)(COS(angle), SIN(angle)));
    }
}

static inline void exchange(float2 *a, local float *to, int step, local float *from) {
#pragma unroll
    for (int i = 0; i < 8; i++) to[i * step] = a[REVERSED(i)].x;
    BARRIER;
#pragma unroll
    for (int i = 0; i < 8; i++) a[i].x = from[i * 8];
    BARRIER;
#pragma unroll
    for (int i = 0; i < 8; i++) to[i * step] = a[REVERSED(i)].y;
    BARRIER;
#pragma unroll
    for (int i = 0; i < 8; i++) a[i].y = from[i * 8];
    BARRIER;
}

static inline void transform(global float2 *work, local float *s, float sign, float factor) {
    int t = THREAD_X, high = t >> 3, low = t & 7;
    float2 a[8];
    work += GROUP_X * 512 + t;
#pragma unroll
    for (int i = 0; i < 8; i++) a[i] = work[i * 64];
    eight(a, sign);
    turn(a, t, 512, sign);
    exchange(a, s + high * 8 + low, 66, s + low * 66 + high);
    eight(a, sign);
    turn(a, high, 64, sign);
    exchange(a, s + high * 8 + low, 72, s + high * 72 + low);
    eight(a, sign);
#pragma unroll
    for (int i = 0; i < 8; i++) work[i * 64] = a[REVERSED(i)] * factor;
}

KERNEL(64) void FFT512_device(global float2 *work) {
    local float s[8 * 8 * 9];
    transform(work, s, -1, 1);
}

KERNEL(64) void IFFT512_device(global float2 *work) {
    local float s[8 * 8 * 9];
    transform(work, s, 1, 1.0f / 512);
}

KERNEL(64) void chk512_device(global const float2 *restrict work, int half_points, global char *restrict fail) {
    float2 a[8], b[8];
    work += GROUP_X * 512 + THREAD_X;
#pragma unroll
    for (int i = 0; i < 8; i++) a[i] = work[i * 64];
#pragma unroll
    for (int i = 0; i < 8; i++) b[i] = work[half_points + i * 64];
#pragma unroll
    for (int i = 0; i < 8; i++)
        if (a[i].x != b[i].x || a[i].y != b[i].y) *fail = 1;
}
