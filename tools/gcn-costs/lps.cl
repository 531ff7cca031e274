#include "gcn.h"

#define WIDE 34
#define PLANE (WIDE * 6)

KERNEL_2D(32, 4) void GPU_laplace3d(int nx, int ny, int nz, int pitch, global const float *restrict from, global float *restrict to) {
    local float s[3 * PLANE];
    int tx = THREAD_X, ty = THREAD_Y, thread = tx + ty * 32;
    int halo_x = 0, halo_y = 0, halo_at = 0, halo_place = 0;
    bool halo = thread < 2 * (32 + 4 + 2);
    if (halo) {
        if (ty < 2) {
            halo_x = tx;
            halo_y = ty * 5 - 1;
        } else {
            halo_x = (thread % 2) * 33 - 1;
            halo_y = thread / 2 - 33;
        }
        halo_place = halo_x + 1 + (halo_y + 1) * WIDE + PLANE;
        halo_x += GROUP_X * 32;
        halo_y += GROUP_Y * 4;
        halo_at = halo_x + halo_y * pitch;
        halo = halo_x >= 0 && halo_x < nx && halo_y >= 0 && halo_y < ny;
    }
    int place = tx + 1 + (ty + 1) * WIDE + PLANE, x = tx + GROUP_X * 32, y = ty + GROUP_Y * 4;
    int at = x + y * pitch, before = at;
    bool active = x < nx && y < ny;
    if (active) s[place + PLANE] = from[at];
    if (halo) s[halo_place + PLANE] = from[halo_at];
#pragma unroll 1
    for (int z = 0; z < nz; z++) {
        if (active) {
            before = at;
            at += ny * pitch;
            s[place - PLANE] = s[place];
            s[place] = s[place + PLANE];
            if (z < nz - 1) s[place + PLANE] = from[at];
        }
        if (halo) {
            halo_at += ny * pitch;
            s[halo_place - PLANE] = s[halo_place];
            s[halo_place] = s[halo_place + PLANE];
            if (z < nz - 1) s[halo_place + PLANE] = from[halo_at];
        }
        BARRIER;
        if (active) {
            float next;
            if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1)
                next = s[place];
            else
                next = (s[place - 1] + s[place + 1] + s[place - WIDE] + s[place + WIDE] + s[place - PLANE] + s[place + PLANE]) * (1.0f / 6.0f);
            to[before] = next;
        }
        BARRIER;
    }
}
