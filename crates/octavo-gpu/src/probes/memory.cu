// STREAM with four numbers at once: a = 1, b = 2 and c = 0 to begin with, and no operation reads what it writes, so
// that what comes out does not depend on how often it is done.

extern "C" __global__ void stream_begin(float4 *a, float4 *b, float4 *c, u64 count)
{
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        a[i] = make_float4(1, 1, 1, 1);
        b[i] = make_float4(2, 2, 2, 2);
        c[i] = make_float4(0, 0, 0, 0);
    }
}

__device__ static inline float4 scaled(float4 value, float by)
{
    return make_float4(value.x * by, value.y * by, value.z * by, value.w * by);
}

__device__ static inline float4 sum(float4 one, float4 other)
{
    return make_float4(one.x + other.x, one.y + other.y, one.z + other.z, one.w + other.w);
}

// Four loads of a thread are in flight before it writes the first.
template <typename Value> __device__ static inline void fill(float4 *__restrict__ to, u64 count, Value value)
{
    const u64 step = thread_count();
    u64 i = thread_index();
    for (; i + 3 * step < count; i += 4 * step) {
        float4 values[4];
#pragma unroll
        for (u32 part = 0; part < 4; part++) values[part] = value(i + part * step);
#pragma unroll
        for (u32 part = 0; part < 4; part++) to[i + part * step] = values[part];
    }
    for (; i < count; i += step) to[i] = value(i);
}

extern "C" __global__ void stream_copy(const float4 *__restrict__ a, float4 *__restrict__ c, u64 count)
{
    fill(c, count, [=](u64 i) { return a[i]; });
}

extern "C" __global__ void stream_scale(const float4 *__restrict__ c, float4 *__restrict__ b, float by, u64 count)
{
    fill(b, count, [=](u64 i) { return scaled(c[i], by); });
}

extern "C" __global__ void stream_add(const float4 *__restrict__ a, const float4 *__restrict__ b,
                                      float4 *__restrict__ c, u64 count)
{
    fill(c, count, [=](u64 i) { return sum(a[i], b[i]); });
}

extern "C" __global__ void stream_triad(const float4 *__restrict__ b, const float4 *__restrict__ c,
                                        float4 *__restrict__ a, float by, u64 count)
{
    fill(a, count, [=](u64 i) { return sum(b[i], scaled(c[i], by)); });
}

// Neighbouring threads read one line together, each `sizeof(T)` bytes of it; which line, a hash says.
template <typename T>
__device__ static inline void read_lines(const u8 *memory, u32 lines, u32 line, u32 loads, u32 first, u32 *sums)
{
    const u32 lanes = line / sizeof(T), thread = (u32)thread_index();
    const u32 groups = (u32)thread_count() / lanes;
    const T *mine = (const T *)memory + thread % lanes;
    u32 sum = 0;
#pragma unroll 8
    for (u32 load = 0; load < loads; load++) {
        const u32 which = random_below(lines, first + load * groups + thread / lanes);
        sum += words(mine[(u64)which * lanes]);
    }
    sums[thread] = sum;
}

extern "C" __global__ void lines_by_4(const u8 *memory, u32 lines, u32 line, u32 loads, u32 first, u32 *sums)
{
    read_lines<u32>(memory, lines, line, loads, first, sums);
}

extern "C" __global__ void lines_by_8(const u8 *memory, u32 lines, u32 line, u32 loads, u32 first, u32 *sums)
{
    read_lines<uint2>(memory, lines, line, loads, first, sums);
}

extern "C" __global__ void lines_by_16(const u8 *memory, u32 lines, u32 line, u32 loads, u32 first, u32 *sums)
{
    read_lines<uint4>(memory, lines, line, loads, first, sums);
}

// A load that any cache may answer, or any but the multiprocessor's own.
template <bool OWN_CACHE> __device__ static inline u64 follow(u64 at)
{
    return OWN_CACHE ? __ldg((const u64 *)at) : __ldcg((const u64 *)at);
}

const u32 WALKERS = 32;

// One thread. First, walkers bring the caches and the TLB to what they are after a long walk: they begin at places
// that lie `steps` apart in the chain and go that far, the last one to where the timed walk begins. Their loads are in
// flight together, so that this takes a small part of the time that one walker would need.
//
// Clocks are read only when the loads before have answered: no address is 0, which the compiler cannot know.
template <bool OWN_CACHE>
__device__ static inline void walk(const u64 *begins, u32 steps, u32 loads, u64 *result)
{
    const Moment begin = next_tick();
    u64 at[WALKERS];
#pragma unroll
    for (u32 walker = 0; walker < WALKERS; walker++) at[walker] = begins[walker];
    for (u32 step = 0; step < steps; step++) {
#pragma unroll
        for (u32 walker = 0; walker < WALKERS; walker++) at[walker] = follow<OWN_CACHE>(at[walker]);
    }
    u64 all = 0;
#pragma unroll
    for (u32 walker = 0; walker < WALKERS; walker++) all |= at[walker];
    if (all == 0) return;

    u64 here = at[WALKERS - 1];
    const u64 before = cycles();
#pragma unroll 16
    for (u32 load = 0; load < loads; load++) here = follow<OWN_CACHE>(here);
    if (here == 0) return;
    const u64 after = cycles();

    const Moment end = next_tick();
    result[0] = after - before;
    result[1] = end.cycles - begin.cycles;
    result[2] = end.nanoseconds - begin.nanoseconds;
    result[3] = here;
}

extern "C" __global__ void chase(const u64 *begins, u32 steps, u32 loads, u64 *result)
{
    walk<true>(begins, steps, loads, result);
}

extern "C" __global__ void chase_past_l1(const u64 *begins, u32 steps, u32 loads, u64 *result)
{
    walk<false>(begins, steps, loads, result);
}
