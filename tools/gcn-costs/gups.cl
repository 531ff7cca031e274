#include "gcn.h"

kernel void gups(global ulong* t, global const ulong* starts, ulong mask, uint updates) {
    ulong ran = starts[(GROUP_X * 256 + THREAD_X)];
#pragma nounroll
    for (uint i = 0; i < updates; i++) {
        t[ran & mask] ^= ran;
        ran = (ran << 1) ^ ((long)ran < 0 ? 7ul : 0ul);
    }
}
