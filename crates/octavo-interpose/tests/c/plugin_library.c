/* What is loaded: it uses the runtime. */
#include "stand_in.h"

int used(void) {
    void *made = 0;
    return cudaMalloc(&made, 4096) || cudaFree(made);
}
