// A structure of which a part is touched, with a given number of operations for each byte of that part.

// The bits of a number.
__device__ static inline u32 bits_of(float number)
{
    union { float number; u32 bits; } both;
    both.number = number;
    return both.bits;
}

// The touched part is in runs of 2^`shift` quads of numbers that begin `spacing` quads apart; `count` quads in all. Every
// number is read, and its bits are added up. Of each `every` groups of 32 quads (`every` is a power of two), the first
// goes through `rounds` multiplications with addition for each number, each waiting for the last one: what hides that is
// many threads.
extern "C" __global__ void touch_and_compute(const float4 *structure, u64 count, u32 shift, u64 spacing, u32 rounds,
                                             u32 every, u32 *sums, float *results)
{
    u64 within = ((u64)1 << shift) - 1;
    u32 sum = 0;
    float x = 1.0f, y = 1.0f, z = 1.0f, w = 1.0f;
    for (u64 at = thread_index(); at < count; at += thread_count()) {
        float4 quad = structure[(at >> shift) * spacing + (at & within)];
        sum += bits_of(quad.x) + bits_of(quad.y) + bits_of(quad.z) + bits_of(quad.w);
        if (((u32)(at >> 5) & (every - 1)) == 0) {
#pragma unroll 16
            for (u32 round = 0; round < rounds; round++) {
                x = x * quad.x + 0.5f;
                y = y * quad.y + 0.5f;
                z = z * quad.z + 0.5f;
                w = w * quad.w + 0.5f;
            }
        }
    }
    sums[thread_index()] = sum;
    results[thread_index()] = x + y + z + w;
}
