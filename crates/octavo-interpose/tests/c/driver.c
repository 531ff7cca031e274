/* A driver that stands in for libcuda: its memory is the host's. Allocations above STAND_IN_LIMIT bytes fail. */
#define _GNU_SOURCE
#include "stand_in.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int take(void **out, size_t size) {
    const char *limit = getenv("STAND_IN_LIMIT");
    if (limit && size > strtoull(limit, NULL, 10)) return 2; /* out of memory */
    *out = malloc(size ? size : 1);
    return *out ? 0 : 2;
}

int cuMemAlloc_v2(uint64_t *out, size_t size) { return take((void **)out, size); }
int cuMemAllocManaged(uint64_t *out, size_t size, unsigned flags) { return flags ? take((void **)out, size) : 1; }
int cuMemAllocHost_v2(void **out, size_t size) { return take(out, size); }
int cuMemFree_v2(uint64_t pointer) { return free((void *)pointer), 0; }
int cuMemFreeHost(void *pointer) { return free(pointer), 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) { return memcpy((void *)to, from, size), 0; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) { return memcpy(to, (void *)from, size), 0; }
int cuMemsetD32_v2(uint64_t pointer, unsigned value, size_t count) {
    for (size_t word = 0; word < count; word++) ((unsigned *)pointer)[word] = value;
    return 0;
}
int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **values, void **extra) {
    (void)shared, (void)stream, (void)extra;
    if (!(gx && gy && gz && bx && by && bz)) return 1;
    ((void (*)(void **))kernel)(values);
    return 0;
}
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *found) {
    char name[64];
    (void)flags, (void)version;
    void *self = dlopen("libcuda.so.1", RTLD_LAZY);
    snprintf(name, sizeof name, "%s_v2", symbol);
    /* Not by dlsym, whose hook would be found, but as a driver does that knows its own functions. */
    *function = dlvsym(self, name, "STAND_IN");
    if (!*function) *function = dlvsym(self, symbol, "STAND_IN");
    if (found) *found = *function ? 0 : 1;
    return *function ? 0 : 500;
}
