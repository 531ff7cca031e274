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
    int (*out)(void *, uint64_t, size_t);
    int (*any)(uint64_t, uint64_t, size_t);
    int (*advise)(uint64_t, size_t, int, int);
    int (*prefetch)(uint64_t, size_t, int, void *);
    int (*reach)(uint64_t *, void *, unsigned);
    int (*current)(void **);
    int (*make_current)(void *);
    int (*retain)(void **, int);
    int (*reset)(int);
    int (*wait)(void);
    int (*wait_for)(void *);
    int (*stream)(void **, unsigned);
    int (*fill)(uint64_t, unsigned char, size_t);
    int (*fill_in)(uint64_t, unsigned char, size_t, void *);
    const char *(*name)(const void *);
    int (*function)(void **, void *, const char *);
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
    get("cuMemcpyDtoH", (void **)&driver.out, 12000, 0, NULL);
    get("cuMemcpy", (void **)&driver.any, 12000, 0, NULL);
    get("cuMemAdvise", (void **)&driver.advise, 12000, 0, NULL);
    get("cuMemPrefetchAsync", (void **)&driver.prefetch, 12000, 0, NULL);
    get("cuMemHostGetDevicePointer", (void **)&driver.reach, 12000, 0, NULL);
    get("cuCtxGetCurrent", (void **)&driver.current, 12000, 0, NULL);
    get("cuCtxSetCurrent", (void **)&driver.make_current, 12000, 0, NULL);
    get("cuDevicePrimaryCtxRetain", (void **)&driver.retain, 12000, 0, NULL);
    get("cuDevicePrimaryCtxReset", (void **)&driver.reset, 12000, 0, NULL);
    get("cuCtxSynchronize", (void **)&driver.wait, 12000, 0, NULL);
    get("cuStreamSynchronize", (void **)&driver.wait_for, 12000, 0, NULL);
    get("cuStreamCreate", (void **)&driver.stream, 12000, 0, NULL);
    get("cuMemsetD8", (void **)&driver.fill, 12000, 0, NULL);
    get("cuMemsetD8Async", (void **)&driver.fill_in, 12000, 0, NULL);
    *(void **)&driver.name = dlsym(library, "stand_in_name");
    get("cuModuleGetFunction", (void **)&driver.function, 12000, 0, NULL);
    get("cuLaunchKernel", (void **)&driver.launch, 12000, 0, NULL);
}

static __thread int last, device;

/* The first call of a thread makes the primary context of its device current. */
static void ready(void) {
    void *context = NULL;
    pthread_once(&once, open_driver);
    if (!driver.current(&context) && !context && !driver.retain(&context, device)) driver.make_current(context);
}
#define OPEN ready()

static int noted(int status) { return status ? last = status : status; }

int cudaGetLastError(void) {
    int status = last;
    return last = 0, status;
}
int cudaGetDevice(int *out) { return *out = device, 0; }
int cudaSetDevice(int chosen) {
    void *context = NULL;
    pthread_once(&once, open_driver);
    int status = driver.retain(&context, chosen);
    return status ? noted(status) : (device = chosen, noted(driver.make_current(context)));
}
/* The thread has no context afterwards, until it calls again. */
int cudaDeviceReset(void) { return OPEN, driver.make_current(NULL), noted(driver.reset(device)); }
int cudaMalloc(void **out, size_t size) { return OPEN, noted(driver.alloc((uint64_t *)out, size)); }
int cudaMallocManaged(void **out, size_t size, unsigned flags) {
    return OPEN, noted(driver.managed((uint64_t *)out, size, flags));
}
int cudaMallocHost(void **out, size_t size) { return OPEN, noted(driver.pinned(out, size)); }
/* A pool is a part of the runtime here: it gives memory of the device that it makes by itself. */
int cudaMallocAsync(void **out, size_t size, void *stream) { return (void)stream, OPEN, noted(driver.alloc((uint64_t *)out, size)); }
int cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return OPEN, noted(driver.alloc((uint64_t *)out, *pitch * height));
}
int cudaFree(void *pointer) { return OPEN, noted(driver.release((uint64_t)pointer)); }
int cudaFreeHost(void *pointer) { return OPEN, noted(driver.unpin(pointer)); }
int cudaFreeAsync(void *pointer, void *stream) { return (void)stream, OPEN, noted(driver.release((uint64_t)pointer)); }
int cudaMemcpy(void *to, const void *from, size_t size, int kind) {
    OPEN;
    if (kind == 1) return noted(driver.in((uint64_t)to, from, size));
    if (kind == 2) return noted(driver.out(to, (uint64_t)from, size));
    return noted(kind == 4 ? driver.any((uint64_t)to, (uint64_t)from, size) : 1);
}
int cudaMemset(void *pointer, int value, size_t size) {
    return OPEN, noted(driver.fill((uint64_t)pointer, (unsigned char)value, size));
}
int cudaMemsetAsync(void *pointer, int value, size_t size, void *stream) {
    return OPEN, noted(driver.fill_in((uint64_t)pointer, (unsigned char)value, size, stream));
}
int cudaDeviceSynchronize(void) { return OPEN, noted(driver.wait()); }
int cudaStreamCreate(void **stream) { return OPEN, noted(driver.stream(stream, 0)); }
int cudaStreamCreateWithFlags(void **stream, unsigned flags) { return OPEN, noted(driver.stream(stream, flags)); }
int cudaStreamSynchronize(void *stream) { return OPEN, noted(driver.wait_for(stream)); }
/* A kernel is known to the driver by its own address here; the runtime asks for it by its name. */
int cudaGetFuncBySymbol(void **function, const void *symbol) {
    OPEN;
    const char *name = driver.name(symbol);
    return *function = (void *)symbol, name ? driver.function(function, NULL, name) : 0;
}
int cudaMemPrefetchAsync(const void *pointer, size_t size, int device, void *stream) {
    return OPEN, noted(driver.prefetch((uint64_t)pointer, size, device, stream));
}
int cudaMemAdvise(const void *pointer, size_t size, int advice, int device) {
    return OPEN, noted(driver.advise((uint64_t)pointer, size, advice, device));
}
int cudaHostGetDevicePointer(void **out, void *pointer, unsigned flags) {
    return OPEN, noted(driver.reach((uint64_t *)out, pointer, flags));
}
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **values, size_t shared, void *stream) {
    return OPEN, driver.launch((void *)kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared,
                               stream, values, NULL);
}
