// A finite impulse response filter over a long signal, block by block: the host makes each block, the GPU filters it.
// The last samples of a block are the history of the next, and stay on the GPU.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                    \
    do {                                                                               \
        cudaError_t status = (call);                                                   \
        if (status != cudaSuccess) {                                                   \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));            \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

__global__ void filter(const float *input, const float *history, const float *taps, float *output, int samples,
                       int order) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples) return;
    float sum = 0;
    for (int k = 0; k < order; ++k) sum += taps[k] * (i >= k ? input[i - k] : history[order + i - k]);
    output[i] = sum;
}

__global__ void keep(const float *input, float *history, int samples, int order) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < order) history[i] = input[samples - order + i];
}

int main(int argc, char **argv) {
    const int blocks = argc > 1 ? atoi(argv[1]) : 16;
    const int samples = 1 << 20, order = 64;
    const size_t bytes = samples * sizeof(float);

    float *h_input = (float *)malloc(bytes);
    float *h_output = (float *)malloc(bytes);
    float h_taps[64];
    for (int k = 0; k < order; ++k) h_taps[k] = 1.0f / order;

    float *d_input, *d_output, *d_taps, *d_history;
    CHECK(cudaMalloc(&d_input, bytes));
    CHECK(cudaMalloc(&d_output, bytes));
    CHECK(cudaMalloc((void **)&d_taps, order * sizeof(float)));     // filled once
    CHECK(cudaMalloc((void **)&d_history, order * sizeof(float)));  // never leaves the GPU
    CHECK(cudaMemcpy(d_taps, h_taps, order * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_history, 0, order * sizeof(float)));

    double energy = 0;
    for (int block = 0; block < blocks; ++block) {
        for (int i = 0; i < samples; ++i) h_input[i] = sinf(0.001f * (float)(block * samples + i));
        CHECK(cudaMemcpy(d_input, h_input, bytes, cudaMemcpyHostToDevice));
        filter<<<(samples + 255) / 256, 256>>>(d_input, d_history, d_taps, d_output, samples, order);
        keep<<<1, order>>>(d_input, d_history, samples, order);
        CHECK(cudaMemcpy(h_output, d_output, bytes, cudaMemcpyDeviceToHost));
        for (int i = 0; i < samples; ++i) energy += h_output[i] * h_output[i];
    }
    printf("%g\n", energy);

    CHECK(cudaFree(d_input));
    CHECK(cudaFree(d_output));
    CHECK(cudaFree(d_taps));
    CHECK(cudaFree(d_history));
    free(h_input);
    free(h_output);
    return 0;
}
