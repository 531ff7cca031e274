/* A library that calls CUDA while it is loaded. */
#include "stand_in.h"

__attribute__((constructor)) static void begin(void) {
    void *made = 0;
    if (!cudaMalloc(&made, 64)) cudaFree(made);
}
