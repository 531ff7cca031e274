// Eight threads read a line of 128 bytes together: the lines in order, or those that a hash says.
// There are 2^n of them.
extern "C" __global__ void read_peer(const uint4 *memory, u32 lines, u32 loads, u32 first, u32 random, u32 *sums)
{
    const u32 thread = (u32)thread_index(), groups = (u32)thread_count() / 8;
    u32 sum = 0;
#pragma unroll 8
    for (u32 load = 0; load < loads; load++) {
        const u32 number = first + load * groups + thread / 8;
        const u32 line = random ? random_below(lines, number) : number & (lines - 1);
        sum += words(memory[(u64)line * 8 + thread % 8]);
    }
    sums[thread] = sum;
}
