#include "gcn.h"

#define B 16
kernel void lud_diagonal(global float* m, int dim, int offset) {
    local float s[B][B];
    int t = THREAD_X, i, j;
    int a = offset * dim + offset;
    for (i = 0; i < B; i++) {
        s[i][t] = m[a + t];
        a += dim;
    }
    BARRIER;
#pragma nounroll
    for (i = 0; i < B - 1; i++) {
        if (t > i) {
#pragma nounroll
            for (j = 0; j < i; j++) s[t][i] -= s[t][j] * s[j][i];
            s[t][i] /= s[i][i];
        }
        BARRIER;
        if (t > i) {
#pragma nounroll
            for (j = 0; j < i + 1; j++) s[i + 1][t] -= s[i + 1][j] * s[j][t];
        }
        BARRIER;
    }
    a = (offset + 1) * dim + offset;
    for (i = 1; i < B; i++) {
        m[a + t] = s[i][t];
        a += dim;
    }
}

kernel void lud_perimeter(global float* m, int dim, int offset) {
    local float dia[B][B], row[B][B], col[B][B];
    int i, j, a, k;
    if (THREAD_X < B) {
        k = THREAD_X;
        a = offset * dim + offset;
        for (i = 0; i < B / 2; i++) {
            dia[i][k] = m[a + k];
            a += dim;
        }
        a = offset * dim + offset;
        for (i = 0; i < B; i++) {
            row[i][k] = m[a + (GROUP_X + 1) * B + k];
            a += dim;
        }
    } else {
        k = THREAD_X - B;
        a = (offset + B / 2) * dim + offset;
        for (i = B / 2; i < B; i++) {
            dia[i][k] = m[a + k];
            a += dim;
        }
        a = (offset + (GROUP_X + 1) * B) * dim + offset;
        for (i = 0; i < B; i++) {
            col[i][k] = m[a + k];
            a += dim;
        }
    }
    BARRIER;
    if (THREAD_X < B) {
        k = THREAD_X;
#pragma nounroll
        for (i = 1; i < B; i++)
#pragma nounroll
            for (j = 0; j < i; j++) row[i][k] -= dia[i][j] * row[j][k];
    } else {
        k = THREAD_X - B;
#pragma nounroll
        for (i = 0; i < B; i++) {
#pragma nounroll
            for (j = 0; j < i; j++) col[k][i] -= col[k][j] * dia[j][i];
            col[k][i] /= dia[i][i];
        }
    }
    BARRIER;
    if (THREAD_X < B) {
        k = THREAD_X;
        a = (offset + 1) * dim + offset;
        for (i = 1; i < B; i++) {
            m[a + (GROUP_X + 1) * B + k] = row[i][k];
            a += dim;
        }
    } else {
        k = THREAD_X - B;
        a = (offset + (GROUP_X + 1) * B) * dim + offset;
        for (i = 0; i < B; i++) {
            m[a + k] = col[i][k];
            a += dim;
        }
    }
}

kernel void lud_internal(global float* m, int dim, int offset) {
    local float row[B][B], col[B][B];
    int r = offset + (GROUP_Y + 1) * B, c = offset + (GROUP_X + 1) * B;
    row[THREAD_Y][THREAD_X] = m[(offset + THREAD_Y) * dim + c + THREAD_X];
    col[THREAD_Y][THREAD_X] = m[(r + THREAD_Y) * dim + offset + THREAD_X];
    BARRIER;
    float sum = 0;
    for (int i = 0; i < B; i++) sum += col[THREAD_Y][i] * row[i][THREAD_X];
    m[(r + THREAD_Y) * dim + c + THREAD_X] -= sum;
}
