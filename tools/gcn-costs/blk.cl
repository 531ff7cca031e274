#include "gcn.h"

static inline float normal(float d) {
    float k = __builtin_amdgcn_rcpf(1 + 0.2316419f * __builtin_fabsf(d));
    float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float below = 0.39894228f * EXP(-0.5f * d * d) * p;
    return d > 0 ? 1 - below : below;
}

static inline float2 price(float s, float x, float t, float r, float v) {
    float root = __builtin_amdgcn_rcpf(__builtin_amdgcn_rsqf(t));
    float d1 = (LOG(s / x) + (r + 0.5f * v * v) * t) * __builtin_amdgcn_rcpf(v * root);
    float n1 = normal(d1), n2 = normal(d1 - v * root), discounted = x * EXP(-r * t);
    return (float2)(s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1));
}

KERNEL(128) void BlackScholesGPU(global float2 *restrict call, global float2 *restrict put, global const float2 *restrict stock, global const float2 *restrict strike, global const float2 *restrict years, float r, float v, uint options) {
    uint i = GROUP_X * 128 + THREAD_X;
    if (i < options / 2) {
        float2 s = stock[i], x = strike[i], t = years[i];
        float2 first = price(s.x, x.x, t.x, r, v), second = price(s.y, x.y, t.y, r, v);
        call[i] = (float2)(first.x, second.x);
        put[i] = (float2)(first.y, second.y);
    }
}
