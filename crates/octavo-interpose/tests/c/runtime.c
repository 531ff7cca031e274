/* A runtime that stands in for libcudart: it finds the driver as the real one does, by dlsym and cuGetProcAddress. */
#define _GNU_SOURCE
#include "stand_in.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static struct {
    int (*alloc)(uint64_t *, size_t);
    int (*managed)(uint64_t *, size_t, unsigned);
    int (*pinned)(void **, size_t);
    int (*release)(uint64_t);
    int (*unpin)(void *);
    int (*in)(uint64_t, const void *, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
} driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_LAZY);
    int (*get)(const char *, void **, int, uint64_t, int *) = NULL;
    *(void **)&get = dlsym(library, "cuGetProcAddress_v2");
    if (!get) abort();
    get("cuMemAlloc", (void **)&driver.alloc, 12000, 0, NULL);
    get("cuMemAllocManaged", (void **)&driver.managed, 12000, 0, NULL);
    get("cuMemAllocHost", (void **)&driver.pinned, 12000, 0, NULL);
    get("cuMemFree", (void **)&driver.release, 12000, 0, NULL);
    get("cuMemFreeHost", (void **)&driver.unpin, 12000, 0, NULL);
    get("cuMemcpyHtoD", (void **)&driver.in, 12000, 0, NULL);
    get("cuLaunchKernel", (void **)&driver.launch, 12000, 0, NULL);
}
#define OPEN pthread_once(&once, open_driver)

int cudaMalloc(void **out, size_t size) { return OPEN, driver.alloc((uint64_t *)out, size); }
int cudaMallocManaged(void **out, size_t size, unsigned flags) { return OPEN, driver.managed((uint64_t *)out, size, flags); }
int cudaMallocHost(void **out, size_t size) { return OPEN, driver.pinned(out, size); }
int cudaMallocAsync(void **out, size_t size, void *stream) { return (void)stream, cudaMalloc(out, size); }
int cudaFree(void *pointer) { return OPEN, driver.release((uint64_t)pointer); }
int cudaFreeHost(void *pointer) { return OPEN, driver.unpin(pointer); }
int cudaFreeAsync(void *pointer, void *stream) { return (void)stream, cudaFree(pointer); }
int cudaMemcpy(void *to, const void *from, size_t size, int kind) {
    return (void)kind, OPEN, driver.in((uint64_t)to, from, size);
}
int cudaMemset(void *pointer, int value, size_t size) {
    for (size_t at = 0; at < size; at++) ((char *)pointer)[at] = (char)value;
    return 0;
}
int cudaMemPrefetchAsync(const void *pointer, size_t size, int device, void *stream) {
    return (void)pointer, (void)size, (void)stream, device;
}
int cudaMemAdvise(const void *pointer, size_t size, int advice, int device) {
    return (void)pointer, (void)size, (void)advice, device;
}
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **values, size_t shared, void *stream) {
    return OPEN, driver.launch((void *)kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared,
                               stream, values, NULL);
}
