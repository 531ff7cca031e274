#include "gcn.h"
typedef float float2 __attribute__((ext_vector_type(2)));

kernel void nn(global const float2* loc, global float* dist, uint n, float lat, float lng) {
    uint i = (GROUP_X * 256 + THREAD_X);
    if (i < n) {
        float2 l = loc[i];
        dist[i] = __builtin_sqrtf((lat - l.x) * (lat - l.x) + (lng - l.y) * (lng - l.y));
    }
}
