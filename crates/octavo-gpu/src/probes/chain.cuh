// A chain through places of equal distance: each holds the address of the next, in an order that looks random and
// comes to every place before it comes back to the first. `chain.rs` knows the same order.

// A permutation of the numbers below `count`, which is at most 2^bits: steps that can each be undone in `bits` bits,
// again until the result is below `count`.
__device__ static inline u32 shuffled(u32 number, u32 count, u32 bits)
{
    const u32 mask = (u32)((1ull << bits) - 1);
    const u32 shift = bits / 2 + 1;
    do {
        for (u32 round = 0; round < 3; round++) {
            number = (number * 0x9e3779b1u + 0x7f4a7c15u) & mask;
            number ^= number >> shift;
        }
    } while (number >= count);
    return number;
}

// Where the chain is after so many steps: groups of neighbours come one after another, the groups in random order.
__device__ static inline u64 place(u32 step, u32 groups, u32 group, u32 bits)
{
    return (u64)shuffled(step / group, groups, bits) * group + step % group;
}

extern "C" __global__ void lay_chain(u8 *memory, u64 stride, u32 groups, u32 group, u32 bits)
{
    const u32 count = groups * group;
    for (u64 step = thread_index(); step < count; step += thread_count()) {
        const u32 next = step + 1 == count ? 0 : (u32)step + 1;
        u8 *here = memory + place((u32)step, groups, group, bits) * stride;
        *(u64 *)here = (u64)(memory + place(next, groups, group, bits) * stride);
    }
}
