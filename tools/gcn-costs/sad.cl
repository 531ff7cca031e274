#include "gcn.h"

// SAD: 61 threads a 4x4 block, 18 positions each
#define DIM 33
#define MAXP 1089
#define PAD 1096
static inline int clampi(int v, int hi) {
    int a = v < 0 ? 0 : v;
    return a > hi ? hi : a;
}

static inline int absi(int x) { return x < 0 ? -x : x; }
#define TEX(x, y) ((int)ref[clampi(y, h - 1) * w + clampi(x, w - 1)])
#define FR(x, y) ((int)fl[(y) * 4 + (x)])
kernel void mb_sad_calc(global ushort* sad, global const ushort* frame, global const ushort* ref, int mbw, int mbh) {
    local ushort fl[16];
    local ushort sl[PAD] __attribute__((aligned(8)));
    int w = mbw * 16, h = mbh * 16, bx = GROUP_X, by = GROUP_Y, t = THREAD_X;
    int mbx = bx >> 2, mby = by >> 2, blx = bx & 3, bly = by & 3;
    if (t < 16) fl[t] = frame[by * 4 * w + bx * 4 + (t >> 2) * w + (t & 3)];
    BARRIER;
    int rx = bx * 4 - 16, ry = by * 4 - 16, base = t * 18, end = base + 18;
    int so = base / DIM, lx = base - so * DIM, y0 = ry + so;
    if (end > MAXP) end = MAXP;
#pragma nounroll
    for (int p = base; p < end; p += 3) {
        ushort s1 = 0, s2 = 0, s3 = 0;
        int x = rx + lx;
#pragma nounroll
        for (int y = 0; y < 4; y++) {
            int v = TEX(x, y0 + y);
            s1 += absi(v - FR(0, y));
            v = TEX(x + 1, y0 + y);
            s1 += absi(v - FR(1, y));
            s2 += absi(v - FR(0, y));
            v = TEX(x + 2, y0 + y);
            s1 += absi(v - FR(2, y));
            s2 += absi(v - FR(1, y));
            s3 += absi(v - FR(0, y));
            v = TEX(x + 3, y0 + y);
            s1 += absi(v - FR(3, y));
            s2 += absi(v - FR(2, y));
            s3 += absi(v - FR(1, y));
            v = TEX(x + 4, y0 + y);
            s2 += absi(v - FR(3, y));
            s3 += absi(v - FR(2, y));
            v = TEX(x + 5, y0 + y);
            s3 += absi(v - FR(3, y));
        }
        sl[p] = s1;
        sl[p + 1] = s2;
        sl[p + 2] = s3;
        lx += 3;
        if (lx >= DIM) {
            lx -= DIM;
            y0++;
        }
    }
    BARRIER;
    if ((t >> 5) < 1) {
        global ulong* o = (global ulong*)(sad + (mbw * mbh * 25 + (mby * mbw + mbx) * 16 + 4 * bly + blx) * PAD);
#pragma nounroll
        for (int i = t; i < PAD / 4; i += 32) o[i] = ((local ulong*)sl)[i];
    }
}

kernel void larger8(global ushort* sad, int mbw, int mbh) {
    int tx = THREAD_Y & 1, ty = THREAD_Y >> 1, mbs = mbw * mbh, mi = (GROUP_Y * mbw + GROUP_X) * PAD;
    global uint* bi = (global uint*)(sad + (mbs * 25 + (ty * 8 + tx * 2)) * PAD + mi * 16);
    global uint* b6 = (global uint*)(sad + (mbs * 17 + (ty * 4 + tx * 2)) * PAD + mi * 8);
    global uint* b5 = (global uint*)(sad + (mbs * 9 + (ty * 4 + tx)) * PAD + mi * 8);
    global uint* b4 = (global uint*)(sad + (mbs * 5 + (ty * 2 + tx)) * PAD + mi * 4);
#pragma nounroll
    for (int p = THREAD_X; p < (MAXP + 1) / 2; p += 32) {
        uint a = bi[p], b = bi[p + PAD / 2], c = bi[p + 4 * PAD / 2], d = bi[p + 5 * PAD / 2];
        b6[p] = a + c;
        b6[p + PAD / 2] = b + d;
        b5[p] = a + b;
        b5[p + 2 * PAD / 2] = c + d;
        b4[p] = (a + b) + (c + d);
    }
}

kernel void larger16(global ushort* sad, int mbw, int mbh) {
    int mbs = mbw * mbh * PAD, mi = (GROUP_Y * mbw + GROUP_X) * PAD;
    global uint* bi = (global uint*)(sad + ((mbs + mi) << 2) + mbs);
    global uint* b3 = (global uint*)(sad + ((mbs + mi) << 1) + mbs);
    global uint* b2 = (global uint*)(sad + mbs + mi * 2);
    global uint* b1 = (global uint*)(sad + mi);
#pragma nounroll
    for (int p = THREAD_X; p < (MAXP + 1) / 2; p += 32) {
        uint a = bi[p], b = bi[p + PAD / 2], c = bi[p + 2 * PAD / 2], d = bi[p + 3 * PAD / 2];
        b3[p] = a + c;
        b3[p + PAD / 2] = b + d;
        b2[p] = a + b;
        b2[p + PAD / 2] = c + d;
        b1[p] = (a + b) + (c + d);
    }
}
