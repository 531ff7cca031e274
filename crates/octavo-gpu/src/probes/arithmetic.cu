__device__ static inline float next(float value, float factor, float term) { return fmaf(value, factor, term); }
__device__ static inline u32 next(u32 value, u32 factor, u32 term) { return value * factor + term; }

// Multiply-adds in chains: each waits for the one before it in its chain, and for no other.
template <typename T, u32 CHAINS>
__device__ static inline T multiply_add(T factor, T term, u32 rounds)
{
    // Different in each thread: what is the same in all of a warp may be computed once, elsewhere.
    T value[CHAINS];
#pragma unroll
    for (u32 chain = 0; chain < CHAINS; chain++) value[chain] = (T)(threadIdx.x + chain);
#pragma unroll 1
    for (u32 round = 0; round < rounds; round++) {
#pragma unroll
        for (u32 again = 0; again < 32; again++) {
#pragma unroll
            for (u32 chain = 0; chain < CHAINS; chain++) value[chain] = next(value[chain], factor, term);
        }
    }
    T sum = 0;
#pragma unroll
    for (u32 chain = 0; chain < CHAINS; chain++) sum += value[chain];
    return sum;
}

// As many chains as hide the latency of each.
extern "C" __global__ void peak_fp32(float factor, float term, u32 rounds, float *results)
{
    results[thread_index()] = multiply_add<float, 8>(factor, term, rounds);
}

extern "C" __global__ void peak_int32(u32 factor, u32 term, u32 rounds, u32 *results)
{
    results[thread_index()] = multiply_add<u32, 8>(factor, term, rounds);
}

// One chain: only other warps hide its latency.
extern "C" __global__ void one_chain(float factor, float term, u32 rounds, float *results)
{
    results[thread_index()] = multiply_add<float, 1>(factor, term, rounds);
}

// Each thread follows the chain of addresses from a place of its own; past the first-level cache, which holds none of
// it for long.
extern "C" __global__ void follow_chain(const u8 *memory, u64 stride, u32 count, u32 bits, u32 loads, u64 *results)
{
    const u32 apart = count / (u32)thread_count();
    u64 here = (u64)memory + place((u32)thread_index() * apart, count, 1, bits) * stride;
#pragma unroll 8
    for (u32 load = 0; load < loads; load++) here = __ldcg((const u64 *)here);
    results[thread_index()] = here;
}
