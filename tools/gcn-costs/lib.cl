#include "gcn.h"

#define N 80
#define M 40
#define NOPT 15
// Local arrays are interleaved over all threads, as local memory is: element i of a thread is at [i * threads +
// thread].
#define T (THREAD_X + GROUP_X * 64)
kernel void greeks(global float* v_out, global float* lb_out, global float* L, global float* L2, global float* z,
                   global float* B, global float* S, global float* Bb, global float* Sb, constant float* lambda,
                   constant int* maturities, constant float* swaprates, float delta, int threads, int paths) {
    int t = T;
#pragma nounroll
    for (int path = t; path < paths; path += threads) {
#pragma nounroll
        for (int i = 0; i < N; i++) {
            z[i * threads + t] = 0.3f;
            L[i * threads + t] = 0.05f;
        }
#pragma nounroll
        for (int i = 0; i < N; i++) L2[i * threads + t] = L[i * threads + t];
#pragma nounroll
        for (int n = 0; n < M; n++) {
            float sqez = __builtin_sqrtf(delta) * z[n * threads + t], v = 0.0f;
#pragma nounroll
            for (int i = n + 1; i < N; i++) {
                float lam = lambda[i - n - 1], con1 = delta * lam, l = L[i * threads + t];
                v += con1 * l * __builtin_amdgcn_rcpf(1.0f + delta * l);
                float r = l * __builtin_exp2f((con1 * v + lam * (sqez - 0.5f * con1)) * 1.442695f);
                L[i * threads + t] = r;
                L2[(i + (n + 1) * N) * threads + t] = r;
            }
        }
        v_out[path] = 1.0f;
#pragma nounroll
        for (int n = M - 1; n >= 0; n--) {
            float v1 = 0.0f;
#pragma nounroll
            for (int i = N - 1; i > n; i--) {
                float a = L2[(i + (n + 1) * N) * threads + t], b = L2[(i + n * N) * threads + t],
                      lb = L[i * threads + t], lam = lambda[i - n - 1];
                v1 += lam * a * lb;
                float f = delta * __builtin_amdgcn_rcpf(1.0f + delta * b);
                L[i * threads + t] = lb * a * __builtin_amdgcn_rcpf(b) + v1 * lam * f * f;
            }
        }
        lb_out[path] = L[(N - 1) * threads + t];
    }
}

kernel void portfolio_b(global float* out, global float* L, global float* B, global float* S, global float* Bb,
                        global float* Sb, constant int* maturities, constant float* swaprates, float delta,
                        int threads) {
    int t = T;
    float b = 1.0f, s = 0.0f, v = 0.0f;
#pragma nounroll
    for (int m = 0; m < N - M; m++) {
        b = b * __builtin_amdgcn_rcpf(1.0f + delta * L[(m + M) * threads + t]);
        s = s + delta * b;
        B[m * threads + t] = b;
        S[m * threads + t] = s;
    }
#pragma nounroll
    for (int m = 0; m < N - M; m++) {
        Bb[m * threads + t] = 0;
        Sb[m * threads + t] = 0;
    }
#pragma nounroll
    for (int n = 0; n < NOPT; n++) {
        int m = maturities[n] - 1;
        float w = B[m * threads + t] + swaprates[n] * S[m * threads + t] - 1.0f;
        if (w < 0) {
            v += -100 * w;
            Sb[m * threads + t] += -100 * swaprates[n];
            Bb[m * threads + t] += -100;
        }
    }
#pragma nounroll
    for (int m = N - M - 1; m >= 0; m--) {
        int n = m + M;
        float sb = Sb[m * threads + t];
        float x = Bb[m * threads + t] + delta * sb;
        Bb[m * threads + t] = x;
        float r = __builtin_amdgcn_rcpf(1.0f + delta * L[n * threads + t]);
        L[n * threads + t] = -x * B[m * threads + t] * delta * r;
        if (m > 0) {
            Sb[(m - 1) * threads + t] += sb;
            Bb[(m - 1) * threads + t] += x * r;
        }
    }
    b = 1.0f;
#pragma nounroll
    for (int n = 0; n < M; n++) b = b / (1.0f + delta * L[n * threads + t]);
    v = b * v;
#pragma nounroll
    for (int n = 0; n < M; n++) L[n * threads + t] = -v * delta / (1.0f + delta * L[n * threads + t]);
#pragma nounroll
    for (int n = M; n < N; n++) L[n * threads + t] = b * L[n * threads + t];
    out[t] = v;
}

kernel void nogreeks(global float* v_out, global float* L, global float* z, global float* B, global float* S,
                     constant float* lambda, constant int* maturities, constant float* swaprates, float delta,
                     int threads, int paths) {
    int t = T;
#pragma nounroll
    for (int path = t; path < paths; path += threads) {
#pragma nounroll
        for (int i = 0; i < N; i++) {
            z[i * threads + t] = 0.3f;
            L[i * threads + t] = 0.05f;
        }
#pragma nounroll
        for (int n = 0; n < M; n++) {
            float sqez = __builtin_sqrtf(delta) * z[n * threads + t], v = 0.0f;
#pragma nounroll
            for (int i = n + 1; i < N; i++) {
                float lam = lambda[i - n - 1], con1 = delta * lam, l = L[i * threads + t];
                v += con1 * l * __builtin_amdgcn_rcpf(1.0f + delta * l);
                L[i * threads + t] = l * __builtin_exp2f((con1 * v + lam * (sqez - 0.5f * con1)) * 1.442695f);
            }
        }
        float b = 1.0f, s = 0.0f, v = 0.0f;
#pragma nounroll
        for (int m = 0; m < N - M; m++) {
            b = b / (1.0f + delta * L[(m + M) * threads + t]);
            s = s + delta * b;
            B[m * threads + t] = b;
            S[m * threads + t] = s;
        }
#pragma nounroll
        for (int n = 0; n < NOPT; n++) {
            int m = maturities[n] - 1;
            float w = B[m * threads + t] + swaprates[n] * S[m * threads + t] - 1.0f;
            if (w < 0) v += -100 * w;
        }
        b = 1.0f;
#pragma nounroll
        for (int n = 0; n < M; n++) b = b / (1.0f + delta * L[n * threads + t]);
        v_out[path] = b * v;
    }
}
