// What signatures of kernels name of cooperative groups; calls in kernels need not be known.
#pragma once
#include "cuda_runtime.h"
#ifdef __CUDA__
#define _COOPERATIVE_GROUPS_H_
namespace cooperative_groups {
struct thread_group {
    __device__ void sync() const;
    __device__ unsigned size() const, thread_rank() const;
};
struct thread_block : thread_group {};
struct grid_group : thread_group {};
struct multi_grid_group : thread_group {};
struct coalesced_group : thread_group {};
template <unsigned Size, typename Parent = void>
struct thread_block_tile : thread_group {};
__device__ thread_block this_thread_block();
__device__ grid_group this_grid();
__device__ multi_grid_group this_multi_grid();
__device__ coalesced_group coalesced_threads();
template <unsigned Size, typename Parent>
__device__ thread_block_tile<Size, Parent> tiled_partition(const Parent&);
template <typename Group>
__device__ void sync(const Group&);
}  // namespace cooperative_groups
#endif
