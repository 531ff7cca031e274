// Not a program of use: one example of each thing that `octavo transform` leaves as it is.
#include <cuda_runtime.h>

#include <cstdlib>
#include <initializer_list>

#define ALLOCATE(pointer, size) cudaMalloc((void **)&(pointer), size)
#define TWICE(call) ((call) == cudaSuccess ? (call) : cudaErrorUnknown)

float *everywhere;  // other files may know it
void elsewhere(float *memory);

template <typename T>
T *made(size_t count) {
    T *memory;
    cudaMalloc(&memory, count * sizeof(T));
    return memory;
}

static float *given(size_t bytes) {
    float *memory;
    cudaMalloc(&memory, bytes);
    return memory;
}

static void stored(float **memory, size_t bytes) { cudaMalloc(memory, bytes); }

__global__ void fill(float *memory, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) memory[i] = i;
}

int main() {
    const int n = 1 << 16;
    const size_t bytes = n * sizeof(float);
    float *host = (float *)malloc(bytes);

    float *from_macro, *doubled, *aliased, *escaped, *advised, *pitched, *several[2], *swayed, *kept, *staging, *caught;
    size_t pitch;
    ALLOCATE(from_macro, bytes);
    TWICE(cudaMalloc(&doubled, bytes));
    cudaMalloc(&aliased, bytes);
    float *alias = aliased;
    cudaMalloc(&escaped, bytes);
    elsewhere(escaped);
    cudaMallocManaged(&advised, bytes);
    cudaMemAdvise(advised, bytes, cudaMemAdviseSetReadMostly, 0);
    cudaMallocPitch(&pitched, &pitch, bytes, 1);
    cudaMalloc(&several[0], bytes);
    cudaMalloc(&swayed, bytes);
    cudaMemcpyKind direction = n > 1 ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    cudaMemcpy(swayed, host, bytes, direction);
    cudaMallocHost(&staging, bytes);
    cudaMalloc(&everywhere, bytes);
    cudaMalloc(&caught, bytes);
    auto later = [caught] { cudaFree(caught); };
    float *from_template = made<float>(n), *from_function = given(bytes), *from_store;
    stored(&from_store, bytes);
#ifdef NEVER
    cudaMalloc(&never, 1);
#endif

    cudaMalloc(&kept, bytes);  // this one is understood
    fill<<<n / 256, 256>>>(kept, n);
    cudaMemcpy(staging, kept, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(alias, kept, bytes, cudaMemcpyDeviceToDevice);

    later();
    for (float *each : {from_macro, doubled, escaped, advised, pitched, several[0], swayed, everywhere}) cudaFree(each);
    cudaFree(aliased);
    cudaFree(from_template);
    cudaFree(from_function);
    cudaFree(from_store);
    cudaFree(kept);
    cudaFreeHost(staging);
    free(host);
}
