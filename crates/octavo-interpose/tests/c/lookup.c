/* Finds the driver by dlsym, as programs do that link to nothing of CUDA's. */
#define _GNU_SOURCE
#include "stand_in.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* There is a driver for all from the start: what is found is its own, or stands before it. */
static int open_to_all(void) {
    int (*alloc)(uint64_t *, size_t), (*release)(uint64_t);
    if (!dlopen("libcuda.so.1", RTLD_LAZY | RTLD_GLOBAL)) return 8;
    *(void **)&alloc = dlsym(RTLD_DEFAULT, "cuMemAlloc_v2");
    *(void **)&release = dlsym(RTLD_DEFAULT, "cuMemFree_v2");
    uint64_t memory;
    return !alloc || !release || alloc(&memory, 64) || release(memory) ? 9 : 0;
}

static void nothing(void **values) { (void)values; }

int main(void) {
    if (dlsym(RTLD_DEFAULT, "cuMemAlloc_v2")) return 1; /* There is no driver yet, whatever stands before it. */
    if (dlsym(RTLD_DEFAULT, "malloc") != dlsym(RTLD_NEXT, "malloc")) return 2;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver) return 3;
    if (dlsym(driver, "cuNoSuchThing")) return 4;
    int (*alloc)(uint64_t *, size_t), (*release)(uint64_t), (*in)(uint64_t, const void *, size_t);
    int (*out)(void *, uint64_t, size_t), (*set)(uint64_t, unsigned, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
    *(void **)&alloc = dlsym(driver, "cuMemAlloc_v2");
    *(void **)&release = dlsym(driver, "cuMemFree_v2");
    *(void **)&in = dlsym(driver, "cuMemcpyHtoD_v2");
    *(void **)&out = dlsym(driver, "cuMemcpyDtoH_v2");
    *(void **)&set = dlsym(driver, "cuMemsetD32_v2");
    *(void **)&launch = dlsym(driver, "cuLaunchKernel");
    int (*retain)(void **, int), (*make_current)(void *);
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&make_current = dlsym(driver, "cuCtxSetCurrent");
    void *context;
    if (retain(&context, 0) || make_current(context)) return 11;
    uint64_t memory;
    char text[16] = "in and out again", back[16];
    if (alloc(&memory, 4096) || set(memory, 7, 1024) || in(memory + 64, text, 16) || out(back, memory + 64, 16)) return 5;
    if (memcmp(text, back, 16) || *(unsigned *)memory != 7) return 6;
    if (launch((void *)nothing, 2, 3, 4, 32, 1, 1, 0, NULL, NULL, NULL)) return 7;
    if (release(memory)) return 10;
    return open_to_all();
}
