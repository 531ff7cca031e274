/* What the tests' programs know of CUDA: declarations as they are in its interface, none of them copied. */
#ifndef STAND_IN_H
#define STAND_IN_H
#include <stddef.h>
#include <stdint.h>

typedef struct { unsigned x, y, z; } dim3;
int cudaGetLastError(void);
int cudaSetDevice(int device);
int cudaGetDevice(int *device);
int cudaDeviceReset(void);
int cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
int cudaHostGetDevicePointer(void **out, void *pointer, unsigned flags);
int cudaMalloc(void **out, size_t size);
int cudaMallocManaged(void **out, size_t size, unsigned flags);
int cudaMallocHost(void **out, size_t size);
int cudaMallocAsync(void **out, size_t size, void *stream);
int cudaFree(void *pointer);
int cudaFreeHost(void *pointer);
int cudaFreeAsync(void *pointer, void *stream);
int cudaMemcpy(void *to, const void *from, size_t size, int kind);
int cudaMemset(void *pointer, int value, size_t size);
int cudaMemPrefetchAsync(const void *pointer, size_t size, int device, void *stream);
int cudaMemAdvise(const void *pointer, size_t size, int advice, int device);
int cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **values, size_t shared, void *stream);
int cudaMemsetAsync(void *pointer, int value, size_t size, void *stream);
int cudaDeviceSynchronize(void);
int cudaStreamCreate(void **stream);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamSynchronize(void *stream);
int cudaGetFuncBySymbol(void **function, const void *symbol);

int cuMemAlloc_v2(uint64_t *out, size_t size);
int cuMemAllocManaged(uint64_t *out, size_t size, unsigned flags);
int cuMemAllocHost_v2(void **out, size_t size);
int cuMemFree_v2(uint64_t pointer);
int cuMemFreeHost(void *pointer);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size);
int cuMemcpy(uint64_t to, uint64_t from, size_t size);
int cuCtxGetCurrent(void **context);
int cuCtxSetCurrent(void *context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxReset_v2(int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxGetDevice(int *device);
int cuCtxSynchronize(void);
int cuMemAdvise(uint64_t pointer, size_t size, int advice, int device);
int cuMemPrefetchAsync(uint64_t pointer, size_t size, int device, void *stream);
int cuMemHostGetDevicePointer_v2(uint64_t *out, void *pointer, unsigned flags);
int cuMemsetD32_v2(uint64_t pointer, unsigned value, size_t count);
int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **values, void **extra);
int cuMemPrefetchAsync_v2(uint64_t pointer, size_t size, uint64_t place, unsigned flags, void *stream);
int cuMemAdvise_v2(uint64_t pointer, size_t size, int advice, uint64_t place);
int cuMemPrefetchBatchAsync(uint64_t *pointers, size_t *sizes, size_t count, uint64_t *places, size_t *begins, size_t of,
                            uint64_t flags, void *stream);
int cuMemDiscardBatchAsync(uint64_t *pointers, size_t *sizes, size_t count, uint64_t flags, void *stream);
int cuMemsetD8_v2(uint64_t pointer, unsigned char value, size_t count);
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t count, void *stream);
int cuFuncGetParamInfo(void *kernel, size_t which, size_t *offset, size_t *size);
int cuFuncGetName(const char **name, void *kernel);
int cuStreamCreate(unsigned **stream, unsigned flags);
int cuPointerGetAttribute(unsigned *value, int attribute, uint64_t pointer);
int cuStreamDestroy_v2(void *stream);
int cuStreamSynchronize(void *stream);
int cuStreamIsCapturing(void *stream, int *status);
int cuEventCreate(double **event, unsigned flags);
int cuEventDestroy_v2(double *event);
int cuEventRecord(double *event, void *stream);
int cuEventQuery(double *event);
int cuEventSynchronize(double *event);
int cuEventElapsedTime(float *ms, double *from, double *to);
void stand_in_kernel(void *kernel, const char *name, int count, const size_t *sizes);
void stand_in_spend(double ns);
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *found);
#endif
