// When the busy kernel behind it begins.
extern "C" __global__ void mark(u64 *begin) { *begin = nanoseconds(); }

// Computes until so many nanoseconds after the mark, in all threads; each says how long after it has ended.
extern "C" __global__ void busy(const u64 *begin, u64 duration, float factor, float *values, u64 *taken)
{
    const u64 until = *begin + duration;
    float value = (float)threadIdx.x;
    do {
#pragma unroll
        for (u32 again = 0; again < 64; again++) value = fmaf(value, factor, 1.0f);
    } while (nanoseconds() < until);
    values[thread_index()] = value;
    taken[thread_index()] = nanoseconds() - *begin;
}
