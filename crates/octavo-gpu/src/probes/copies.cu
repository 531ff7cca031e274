// When the busy kernel behind it begins.
extern "C" __global__ void mark(u64 *begin) { *begin = nanoseconds(); }

// Computes until so many nanoseconds after the mark, with as many threads as it is launched with.
extern "C" __global__ void busy(const u64 *begin, u64 duration, float factor, float *results)
{
    const u64 until = *begin + duration;
    float value = (float)threadIdx.x;
    do {
#pragma unroll
        for (u32 again = 0; again < 64; again++) value = fmaf(value, factor, 1.0f);
    } while (nanoseconds() < until);
    results[thread_index()] = value;
}
