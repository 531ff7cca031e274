// Graphs, memory pools, and what few programs call.
#pragma once

typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUexternalMemory_st* cudaExternalMemory_t;
typedef struct CUexternalSemaphore_st* cudaExternalSemaphore_t;
typedef struct cudaGraphicsResource* cudaGraphicsResource_t;
typedef unsigned long long cudaGraphConditionalHandle;
typedef struct cudaIpcEventHandle_st {
    char reserved[64];
} cudaIpcEventHandle_t;

enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
struct cudaKernelNodeParams {
    void* func;
    dim3 gridDim, blockDim;
    unsigned int sharedMemBytes;
    void **kernelParams, **extra;
};
struct cudaMemsetParams {
    void* dst;
    size_t pitch;
    unsigned int value, elementSize;
    size_t width, height;
};
struct cudaHostNodeParams {
    cudaHostFn_t fn;
    void* userData;
};
struct cudaAccessPolicyWindow {
    void* base_ptr;
    size_t num_bytes;
    float hitRatio;
    int hitProp, missProp;
};
enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone, cudaMemHandleTypePosixFileDescriptor };
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolAttrReleaseThreshold = 4
};
struct cudaMemPoolProps {
    enum cudaMemAllocationType allocType;
    enum cudaMemAllocationHandleType handleTypes;
    struct cudaMemLocation location;
    void* win32SecurityAttributes;
    unsigned char reserved[64];
};
struct cudaMemPoolPtrExportData {
    unsigned char reserved[64];
};
enum cudaMemAccessFlags {
    cudaMemAccessFlagsProtNone,
    cudaMemAccessFlagsProtRead,
    cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemAccessDesc {
    struct cudaMemLocation location;
    enum cudaMemAccessFlags flags;
};
enum cudaGraphicsMapFlags {
    cudaGraphicsMapFlagsNone,
    cudaGraphicsMapFlagsReadOnly,
    cudaGraphicsMapFlagsWriteDiscard
};
struct cudaLaunchAttribute {
    int id;
    int val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    struct cudaLaunchAttribute* attrs;
    unsigned int numAttrs;
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion;
};

extern "C" {
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphAddKernelNode(
    cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
    const struct cudaKernelNodeParams* parameters);
cudaError_t cudaGraphAddMemcpyNode(
    cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
    const struct cudaMemcpy3DParms* parameters);
cudaError_t cudaGraphAddMemsetNode(
    cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
    const struct cudaMemsetParams* parameters);
cudaError_t cudaGraphAddHostNode(
    cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
    const struct cudaHostNodeParams* parameters);

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const struct cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t size);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc* access, size_t count);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);
cudaError_t cudaIpcCloseMemHandle(void* pointer);

cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp* properties);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* bus);
cudaError_t cudaDeviceGetPCIBusId(char* bus, int length, int device);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit);
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
cudaError_t cudaGetDeviceFlags(unsigned int* flags);
cudaError_t cudaHostGetFlags(unsigned int* flags, void* pointer);
cudaError_t cudaSetValidDevices(int* devices, int count);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaThreadExit(void);
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t* resources, cudaStream_t stream = 0);
cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t* resources, cudaStream_t stream = 0);
cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource);
cudaError_t cudaGraphicsSubResourceGetMappedArray(
    cudaArray_t* array, cudaGraphicsResource_t resource, unsigned int index, unsigned int level);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphInstantiate(
    cudaGraphExec_t* made, cudaGraph_t graph, cudaGraphNode_t* error, char* log, size_t size);
template <typename T>
cudaError_t cudaGraphicsResourceGetMappedPointer(T** pointer, size_t* size, cudaGraphicsResource_t resource);
template <typename T>
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, T* function);
template <typename T>
cudaError_t cudaLaunchCooperativeKernel(
    T* function, dim3 grid, dim3 block, void** arguments, size_t shared = 0, cudaStream_t stream = 0);
template <typename... Taken, typename... Given>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Taken...), Given&&... arguments);
template <typename T>
cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol);
template <typename T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream);
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(
    void* to, const T& symbol, size_t size, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream = 0);
template <typename F, typename S>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(
    int* least_grid, int* block, F function, S shared, int limit = 0);
