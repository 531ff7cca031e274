#include "gcn.h"

typedef float float3 __attribute__((ext_vector_type(3)));
#define I (GROUP_X * 192 + THREAD_X)
static inline float press(float d, float e, float q) { return 0.4f * (e - 0.5f * d * q); }
static inline void contrib(float3 m, float e, float p, float3 v, float3* x, float3* y, float3* z, float3* d) {
    x->x = v.x * m.x + p;
    x->y = v.x * m.y;
    x->z = v.x * m.z;
    y->x = x->y;
    y->y = v.y * m.y + p;
    y->z = v.y * m.z;
    z->x = x->z;
    z->y = y->z;
    z->z = v.z * m.z + p;
    float s = e + p;
    *d = v * s;
}

kernel void init(int n, global float* v, constant float* ff) {
    int i = I;
    for (int j = 0; j < 5; j++) v[i + j * n] = ff[j];
}

kernel void step_factor(int n, global float* v, global float* areas, global float* sf) {
    int i = I;
    float d = v[i];
    float3 m;
    m.x = v[i + n];
    m.y = v[i + 2 * n];
    m.z = v[i + 3 * n];
    float e = v[i + 4 * n];
    float3 u = m / d;
    float q = u.x * u.x + u.y * u.y + u.z * u.z;
    float p = press(d, e, q);
    float c = __builtin_sqrtf(1.4f * p / d);
    sf[i] = 0.5f / (__builtin_sqrtf(areas[i]) * (__builtin_sqrtf(q) + c));
}

kernel void flux(int n, global const int* nbs, global const float* normals, global const float* v, global float* out,
                 constant float* ff) {
    int i = I;
    float d = v[i];
    float3 m;
    m.x = v[i + n];
    m.y = v[i + 2 * n];
    m.z = v[i + 3 * n];
    float e = v[i + 4 * n];
    float3 u = m / d;
    float q = u.x * u.x + u.y * u.y + u.z * u.z;
    float sp = __builtin_sqrtf(q);
    float p = press(d, e, q);
    float c = __builtin_sqrtf(1.4f * p / d);
    float3 x, y, z, de;
    contrib(m, e, p, u, &x, &y, &z, &de);
    float fd = 0, fe = 0;
    float3 fm = 0;
#pragma nounroll
    for (int j = 0; j < 4; j++) {
        int nb = nbs[i + j * n];
        float3 a;
        a.x = normals[i + j * n];
        a.y = normals[i + (j + 4) * n];
        a.z = normals[i + (j + 8) * n];
        float l = __builtin_sqrtf(a.x * a.x + a.y * a.y + a.z * a.z), f;
        if (nb >= 0) {
            float dn = v[nb];
            float3 mn;
            mn.x = v[nb + n];
            mn.y = v[nb + 2 * n];
            mn.z = v[nb + 3 * n];
            float en = v[nb + 4 * n];
            float3 un = mn / dn;
            float qn = un.x * un.x + un.y * un.y + un.z * un.z;
            float pn = press(dn, en, qn);
            float cn = __builtin_sqrtf(1.4f * pn / dn);
            float3 xn, yn, zn, den;
            contrib(mn, en, pn, un, &xn, &yn, &zn, &den);
            f = -l * 0.2f * 0.5f * (sp + __builtin_sqrtf(qn) + c + cn);
            fd += f * (d - dn);
            fe += f * (e - en);
            fm += f * (m - mn);
            f = 0.5f * a.x;
            fd += f * (mn.x + m.x);
            fe += f * (den.x + de.x);
            fm.x += f * (xn.x + x.x);
            fm.y += f * (yn.x + y.x);
            fm.z += f * (zn.x + z.x);
            f = 0.5f * a.y;
            fd += f * (mn.y + m.y);
            fe += f * (den.y + de.y);
            fm.x += f * (xn.y + x.y);
            fm.y += f * (yn.y + y.y);
            fm.z += f * (zn.y + z.y);
            f = 0.5f * a.z;
            fd += f * (mn.z + m.z);
            fe += f * (den.z + de.z);
            fm.x += f * (xn.z + x.z);
            fm.y += f * (yn.z + y.z);
            fm.z += f * (zn.z + z.z);
        } else if (nb == -1) {
            fm += a * p;
        } else if (nb == -2) {
            f = 0.5f * a.x;
            fd += f * (ff[1] + m.x);
            fe += f * (ff[5] + de.x);
            fm.x += f * (ff[8] + x.x);
            fm.y += f * (ff[11] + y.x);
            fm.z += f * (ff[14] + z.x);
            f = 0.5f * a.y;
            fd += f * (ff[2] + m.y);
            fe += f * (ff[6] + de.y);
            fm.x += f * (ff[9] + x.y);
            fm.y += f * (ff[12] + y.y);
            fm.z += f * (ff[15] + z.y);
            f = 0.5f * a.z;
            fd += f * (ff[3] + m.z);
            fe += f * (ff[7] + de.z);
            fm.x += f * (ff[10] + x.z);
            fm.y += f * (ff[13] + y.z);
            fm.z += f * (ff[16] + z.z);
        }
    }
    out[i] = fd;
    out[i + n] = fm.x;
    out[i + 2 * n] = fm.y;
    out[i + 3 * n] = fm.z;
    out[i + 4 * n] = fe;
}

kernel void time_step(int j, int n, global const float* old, global float* v, global const float* sf,
                      global const float* fl) {
    int i = I;
    float f = sf[i] / (float)(4 - j);
    v[i] = old[i] + f * fl[i];
    v[i + 4 * n] = old[i + 4 * n] + f * fl[i + 4 * n];
    v[i + n] = old[i + n] + f * fl[i + n];
    v[i + 2 * n] = old[i + 2 * n] + f * fl[i + 2 * n];
    v[i + 3 * n] = old[i + 3 * n] + f * fl[i + 3 * n];
}
