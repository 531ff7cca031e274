// Counts how often each colour occurs. The host draws the picture, the GPU counts, the host finds the most frequent.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kColours = 256;

__global__ void count(const unsigned *pixels, unsigned *bins, int n) {
    __shared__ unsigned mine[kColours];
    for (int i = threadIdx.x; i < kColours; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&mine[pixels[i] % kColours], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < kColours; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

static void upload(unsigned *to, const std::vector<unsigned> &from) {
    cudaMemcpy(to, from.data(), from.size() * sizeof(unsigned), cudaMemcpyHostToDevice);
}

static void release(void *memory)
{
    if (memory != nullptr)
        cudaFree(memory);   /* what is freed once is not used again */
}

int main() {
    const int n = 1 << 24;
    std::vector<unsigned> pixels(n), bins(kColours);
    unsigned state = 1;
    for (unsigned &pixel : pixels) pixel = (state = state * 1664525u + 1013904223u) >> 8;

    unsigned *d_pixels = nullptr;
    unsigned *d_bins = NULL;
    cudaMalloc(&d_pixels, pixels.size() * sizeof(unsigned) /* 64 MiB */);
    cudaMalloc(&d_bins, kColours * sizeof(unsigned));
    upload(d_pixels, pixels);
    cudaMemset(d_bins, 0, kColours * sizeof(unsigned));

    dim3 grid(512);
    dim3 block(kColours);
    count<<<grid, block>>>(d_pixels, d_bins, n);
    cudaMemcpy(bins.data(), d_bins, kColours * sizeof(unsigned), cudaMemcpyDeviceToHost);
    printf("%td\n", std::max_element(bins.begin(), bins.end()) - bins.begin());

    release(d_pixels);
    release(d_bins);
}
