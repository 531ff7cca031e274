#include "gcn.h"

typedef struct {
    float weight;
    global float* coord;
    long assign;
    float cost;
} Point;

kernel void cost(int num, int dim, long x, global const Point* p, int K, int stride, global const float* coord,
                 global float* work, global const int* table, global uchar* sw) {
    int t = GROUP_X * 512 + THREAD_X;
    if (t < num) {
        global float* lower = &work[t * stride];
        float d = 0;
#pragma nounroll
        for (int i = 0; i < dim; i++) {
            float a = coord[i * num + t] - coord[i * num + x];
            d += a * a;
        }
        float xc = d * p[t].weight;
        if (xc < p[t].cost) {
            sw[t] = 1;
            lower[K] += xc - p[t].cost;
        } else
            lower[table[p[t].assign]] += p[t].cost - xc;
    }
}
