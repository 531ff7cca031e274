// PageRank over a graph in compressed sparse rows. The host makes the graph and decides after each round whether the
// ranks still change.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

__global__ void rank(const int *rows, const int *columns, const float *values, const float *from, float *to, int nodes) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    float sum = 0;
    for (int edge = rows[node]; edge < rows[node + 1]; ++edge) sum += values[edge] * from[columns[edge]];
    to[node] = 0.15f / nodes + 0.85f * sum;
}

int main(int argc, char **argv) {
    int nodes = 1 << 16;
    if (argc > 1) nodes = atoi(argv[1]);
    const int degree = 16, edges = nodes * degree;

    int *h_rows = (int *)malloc((nodes + 1) * sizeof(int));
    int *h_columns = (int *)malloc(edges * sizeof(int));
    float *h_values = (float *)malloc(edges * sizeof(float));
    float *h_ranks = (float *)malloc(nodes * sizeof(float));
    for (int node = 0; node <= nodes; ++node) h_rows[node] = node * degree;
    for (int edge = 0; edge < edges; ++edge) {
        h_columns[edge] = rand() % nodes;
        h_values[edge] = 1.0f / degree;
    }
    for (int node = 0; node < nodes; ++node) h_ranks[node] = 1.0f / nodes;

    int *d_rows, *d_columns;
    float *d_values, *d_from, *d_to;
    if (cudaMalloc(&d_rows, (nodes + 1) * sizeof(int)) != cudaSuccess ||
        cudaMalloc(&d_columns, edges * sizeof(int)) != cudaSuccess ||
        cudaMalloc(&d_values, edges * sizeof(float)) != cudaSuccess) {
        fprintf(stderr, "the graph does not fit\n");
        return 1;
    }
    cudaMalloc(&d_from, nodes * sizeof(float));
    cudaMalloc(&d_to, nodes * sizeof(float));
    cudaMemcpy(d_rows, h_rows, (nodes + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_columns, h_columns, edges * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_values, h_values, edges * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_from, h_ranks, nodes * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 64;
    for (int round = 0; round < 50; ++round) {
        rank<<<(nodes + block - 1) / block, block>>>(d_rows, d_columns, d_values, d_from, d_to, nodes);
        float before = h_ranks[0];
        cudaMemcpy(h_ranks, d_to, nodes * sizeof(float), cudaMemcpyDeviceToHost);
        if (fabsf(h_ranks[0] - before) < 1e-9f) break;
        float *swapped = d_from;  // the two change places
        d_from = d_to;
        d_to = swapped;
    }
    printf("%g\n", h_ranks[0]);

    cudaFree(d_rows), cudaFree(d_columns), cudaFree(d_values);
    cudaFree(d_from);
    cudaFree(d_to);
    free(h_rows);
    free(h_columns);
    free(h_values);
    free(h_ranks);
}
