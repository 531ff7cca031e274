// Prices of European options; host and GPU price a share each, in memory that both of them use.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>

struct Options {
    float *price, *strike, *years, *call;
};

__host__ __device__ inline float normal(float x) { return 0.5f * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); }

__host__ __device__ inline float value(float price, float strike, float years) {
    const float rate = 0.02f, spread = 0.3f;
    float root = spread * sqrtf(years);
    float d1 = (logf(price / strike) + (rate + 0.5f * spread * spread) * years) / root;
    return price * normal(d1) - strike * expf(-rate * years) * normal(d1 - root);
}

__global__ void price(const float *now, const float *strike, const float *years, float *call, int first, int last) {
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < last) call[i] = value(now[i], strike[i], years[i]);
}

int main() {
    const int options = 1 << 22, shared = options / 4;
    Options all;
    const size_t bytes = options * sizeof(float);
    cudaMallocManaged(&all.price, bytes);
    cudaMallocManaged(&all.strike, bytes, cudaMemAttachGlobal);
    cudaMallocManaged(&all.years, bytes);
    cudaMallocHost(&all.call, bytes);
    for (int i = 0; i < options; ++i) {
        all.price[i] = 5.0f + i % 25;
        all.strike[i] = 1.0f + i % 99;
        all.years[i] = 0.25f + i % 10;
    }
    price<<<(options - shared + 511) / 512, 512>>>(all.price, all.strike, all.years, all.call, shared, options);
    for (int i = 0; i < shared; ++i) all.call[i] = value(all.price[i], all.strike[i], all.years[i]);
    cudaDeviceSynchronize();
    double sum = 0;
    for (int i = 0; i < options; ++i) sum += all.call[i];
    printf("%.3f\n", sum / options);
    cudaFree(all.price);
    cudaFree(all.strike);
    cudaFree(all.years);
    cudaFreeHost(all.call);
}
