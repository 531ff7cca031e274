// k-means: the GPU finds the nearest centre of each point, the host moves the centres, until few points change sides.
#include <cuda_runtime.h>

#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <cstring>

class KMeans {
public:
    KMeans(int points, int features, int centres) : points_(points), features_(features), centres_(centres) {}
    void Initialize();
    void Run();
    void Cleanup();

private:
    int Move();

    int points_, features_, centres_;
    float *features_host_, *centres_host_;
    int *member_, *member_host_;
    float *d_features_;  // by point: read again in every round
    float *d_centres_;
};

__global__ void nearest(const float *features, const float *centres, int *member, int points, int width, int count) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;
    float best = FLT_MAX;
    for (int centre = 0; centre < count; ++centre) {
        float distance = 0;
        for (int i = 0; i < width; ++i) {
            float apart = features[point * width + i] - centres[centre * width + i];
            distance += apart * apart;
        }
        if (distance < best) {
            best = distance;
            member[point] = centre;
        }
    }
}

void KMeans::Initialize() {
    features_host_ = new float[points_ * features_];
    centres_host_ = new float[centres_ * features_];
    member_host_ = new int[points_];
    for (int i = 0; i < points_ * features_; ++i) features_host_[i] = rand() / (float)RAND_MAX;
    memcpy(centres_host_, features_host_, centres_ * features_ * sizeof(float));
    memset(member_host_, 0xff, points_ * sizeof(int));

    cudaMalloc(&d_features_, points_ * features_ * sizeof(float));
    cudaMalloc(&d_centres_, centres_ * features_ * sizeof(float));
    cudaMallocManaged(&member_, points_ * sizeof(int));  // written by the GPU, read by the host
    cudaMemcpy(d_features_, features_host_, points_ * features_ * sizeof(float), cudaMemcpyHostToDevice);
}

int KMeans::Move() {
    int moved = 0;
    int *size = (int *)calloc(centres_, sizeof(int));
    memset(centres_host_, 0, centres_ * features_ * sizeof(float));
    for (int point = 0; point < points_; ++point) {
        int centre = member_[point];
        moved += centre != member_host_[point];
        member_host_[point] = centre;
        ++size[centre];
        for (int i = 0; i < features_; ++i)
            centres_host_[centre * features_ + i] += features_host_[point * features_ + i];
    }
    for (int centre = 0; centre < centres_; ++centre)
        for (int i = 0; size[centre] > 0 && i < features_; ++i) centres_host_[centre * features_ + i] /= size[centre];
    free(size);
    return moved;
}

void KMeans::Run() {
    const dim3 block(128), grid((points_ + block.x - 1) / block.x);
    int moved = points_;
    for (int round = 0; round < 20 && moved > points_ / 1000; ++round) {
        cudaMemcpyAsync(d_centres_, centres_host_, centres_ * features_ * sizeof(float), cudaMemcpyHostToDevice, 0);
        nearest<<<grid, block>>>(d_features_, d_centres_, member_, points_, features_, centres_);
        cudaDeviceSynchronize();
        moved = Move();
        printf("round %d: %d moved\n", round, moved);
    }
}

void KMeans::Cleanup() {
    cudaFree(d_features_);
    cudaFree(d_centres_);
    cudaFree(member_);
    delete[] features_host_;
    delete[] centres_host_;
    delete[] member_host_;
}

int main() {
    KMeans kmeans(1 << 18, 32, 8);
    kmeans.Initialize();
    kmeans.Run();
    kmeans.Cleanup();
}
