// Functions of the CUDA runtime that the host calls.
#pragma once

extern "C" {
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags);

__host__ __device__ cudaError_t cudaMalloc(void** pointer, size_t size);
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int flags = cudaMemAttachGlobal);
cudaError_t cudaMallocHost(void** pointer, size_t size);
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags);
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(struct cudaPitchedPtr* pointer, struct cudaExtent extent);
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream);
__host__ __device__ cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags);

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(
    void* to, const void* from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemcpy2D(
    void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
    enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(
    void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
    enum cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms* parameters);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t size);
cudaError_t cudaMemcpyPeerAsync(
    void* to, int to_device, const void* from, int from_device, size_t size, cudaStream_t stream = 0);
cudaError_t cudaMemset(void* pointer, int value, size_t size);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t stream = 0);
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemAdvise(const void* pointer, size_t size, enum cudaMemoryAdvise advice, int device);
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, int device, cudaStream_t stream = 0);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaStreamAddCallback(
    cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamAttachMemAsync(
    cudaStream_t stream, void* pointer, size_t length = 0, unsigned int flags = cudaMemAttachSingle);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

cudaError_t cudaLaunchKernel(
    const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(
    const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream);
// What the front end makes of <<<...>>>, by version of CUDA.
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void* stream = 0);
}

// As CUDA 13 has them.
cudaError_t cudaMemAdvise(
    const void* pointer, size_t size, enum cudaMemoryAdvise advice, struct cudaMemLocation location);
cudaError_t cudaMemPrefetchAsync(
    const void* pointer, size_t size, struct cudaMemLocation location, unsigned int flags, cudaStream_t stream = 0);

template <typename T>
__host__ __device__ cudaError_t cudaMalloc(T** pointer, size_t size);
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, size_t size, unsigned int flags = cudaMemAttachGlobal);
template <typename T>
cudaError_t cudaMallocHost(T** pointer, size_t size, unsigned int flags = 0);
template <typename T>
cudaError_t cudaHostAlloc(T** pointer, size_t size, unsigned int flags);
template <typename T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height);
template <typename T>
cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaStream_t stream);
template <typename T>
cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream);
template <typename T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags);
template <typename T>
cudaError_t cudaMemcpyToSymbol(
    const T& symbol, const void* from, size_t size, size_t offset = 0, enum cudaMemcpyKind kind = cudaMemcpyHostToDevice);
template <typename T>
cudaError_t cudaMemcpyFromSymbol(
    void* to, const T& symbol, size_t size, size_t offset = 0, enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(
    const T& symbol, const void* from, size_t size, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream = 0);
template <typename T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol);
template <typename T>
cudaError_t cudaFuncSetCacheConfig(T* function, enum cudaFuncCache config);
template <typename T>
cudaError_t cudaFuncSetAttribute(T* function, enum cudaFuncAttribute attribute, int value);
template <typename T>
cudaError_t cudaLaunchKernel(
    T* function, dim3 grid, dim3 block, void** arguments, size_t shared = 0, cudaStream_t stream = 0);
template <typename T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T function, int size, size_t shared);
template <typename T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(
    int* least_grid, int* block, T function, size_t shared = 0, int limit = 0);
