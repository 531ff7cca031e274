// Textures, surfaces and arrays, those that CUDA 12 no longer has included.
#pragma once

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc {
    int x, y, z, w;
    enum cudaChannelFormatKind f;
};
enum cudaTextureAddressMode {
    cudaAddressModeWrap,
    cudaAddressModeClamp,
    cudaAddressModeMirror,
    cudaAddressModeBorder
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaResourceType {
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D
};
struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct { cudaArray_t array; } array;
        struct { cudaMipmappedArray_t mipmap; } mipmap;
        struct { void* devPtr; struct cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
        struct {
            void* devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};
struct cudaResourceViewDesc {
    int format;
    size_t width, height, depth;
    unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
};
struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;
    int sRGB, normalizedCoords;
    float borderColor[4];
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct textureReference {
    int normalized;
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureAddressMode addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
};
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02
#define cudaArrayCubemap 0x04
#define cudaArrayTextureGather 0x08

template <typename T, int Dimensions = cudaTextureType1D, enum cudaTextureReadMode = cudaReadModeElementType>
struct texture : public textureReference {};

extern "C" {
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f);
cudaError_t cudaMallocArray(
    cudaArray_t* array, const struct cudaChannelFormatDesc* desc, size_t width, size_t height = 0,
    unsigned int flags = 0);
cudaError_t cudaMalloc3DArray(
    cudaArray_t* array, const struct cudaChannelFormatDesc* desc, struct cudaExtent extent, unsigned int flags = 0);
cudaError_t cudaMallocMipmappedArray(
    cudaMipmappedArray_t* array, const struct cudaChannelFormatDesc* desc, struct cudaExtent extent,
    unsigned int levels, unsigned int flags = 0);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t of, unsigned int level);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array);
cudaError_t cudaArrayGetInfo(
    struct cudaChannelFormatDesc* desc, struct cudaExtent* extent, unsigned int* flags, cudaArray_t array);
cudaError_t cudaMemcpyToArray(
    cudaArray_t to, size_t x, size_t y, const void* from, size_t size, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(
    void* to, cudaArray_const_t from, size_t x, size_t y, size_t size, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArray(
    cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
    enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray(
    void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
    enum cudaMemcpyKind kind);
cudaError_t cudaCreateTextureObject(
    cudaTextureObject_t* texture, const struct cudaResourceDesc* resource, const struct cudaTextureDesc* desc,
    const struct cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const struct cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);
cudaError_t cudaUnbindTexture(const struct textureReference* texture);
}

template <typename T>
struct cudaChannelFormatDesc cudaCreateChannelDesc();
template <typename T, int D, enum cudaTextureReadMode M>
cudaError_t cudaBindTexture(
    size_t* offset, const texture<T, D, M>& to, const void* pointer, size_t size = 0xffffffff);
template <typename T, int D, enum cudaTextureReadMode M>
cudaError_t cudaBindTexture(
    size_t* offset, const texture<T, D, M>& to, const void* pointer, const cudaChannelFormatDesc& desc,
    size_t size = 0xffffffff);
template <typename T, int D, enum cudaTextureReadMode M>
cudaError_t cudaBindTexture2D(
    size_t* offset, const texture<T, D, M>& to, const void* pointer, const cudaChannelFormatDesc& desc, size_t width,
    size_t height, size_t pitch);
template <typename T, int D, enum cudaTextureReadMode M>
cudaError_t cudaBindTextureToArray(const texture<T, D, M>& to, cudaArray_const_t array);
template <typename T, int D, enum cudaTextureReadMode M>
cudaError_t cudaBindTextureToArray(
    const texture<T, D, M>& to, cudaArray_const_t array, const cudaChannelFormatDesc& desc);
template <typename T, int D, enum cudaTextureReadMode M>
cudaError_t cudaUnbindTexture(const texture<T, D, M>& of);
