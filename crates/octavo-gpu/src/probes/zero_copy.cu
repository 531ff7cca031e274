// Where the access of that number is in a buffer of 2^bits bytes: `stride` bytes (a power of two) behind the one
// before, and at the end of the buffer again from its beginning, one width further; or anywhere, if `stride` is 0.
template <typename T> __device__ static inline u64 offset(u64 access, u32 bits, u64 stride)
{
    if (stride == 0) return (u64)random_below((u32)((1ull << bits) / sizeof(T)), (u32)access) * sizeof(T);
    const u64 linear = access * stride;
    return (linear & ((1ull << bits) - 1)) + ((linear >> bits) * sizeof(T) & (stride - 1));
}

// Loads of a thread that are in flight together; `accesses` is a multiple of it.
const u32 TOGETHER = 4;

template <typename T>
__device__ static inline u32 read_all(const u8 *memory, u32 bits, u64 stride, u64 first, u32 accesses)
{
    u32 sum = 0;
    u64 number = first + thread_index();
    for (u32 access = 0; access < accesses; access += TOGETHER) {
        T values[TOGETHER];
#pragma unroll
        for (u32 part = 0; part < TOGETHER; part++, number += thread_count())
            values[part] = *(const T *)(memory + offset<T>(number, bits, stride));
#pragma unroll
        for (u32 part = 0; part < TOGETHER; part++) sum += words(values[part]);
    }
    return sum;
}

__device__ static inline void repeat(u32 word, u32 &value) { value = word; }
__device__ static inline void repeat(u32 word, uint2 &value) { value = make_uint2(word, word); }
__device__ static inline void repeat(u32 word, uint4 &value) { value = make_uint4(word, word, word, word); }

template <typename T>
__device__ static inline void write_all(u8 *memory, u32 bits, u64 stride, u64 first, u32 accesses, u32 word)
{
    T value;
    repeat(word, value);
    u64 number = first + thread_index();
    for (u32 access = 0; access < accesses; access += TOGETHER) {
#pragma unroll
        for (u32 part = 0; part < TOGETHER; part++, number += thread_count())
            *(T *)(memory + offset<T>(number, bits, stride)) = value;
    }
}

extern "C" __global__ void read_by_4(const u8 *memory, u32 bits, u64 stride, u64 first, u32 accesses, u32 *sums)
{
    sums[thread_index()] = read_all<u32>(memory, bits, stride, first, accesses);
}

extern "C" __global__ void read_by_8(const u8 *memory, u32 bits, u64 stride, u64 first, u32 accesses, u32 *sums)
{
    sums[thread_index()] = read_all<uint2>(memory, bits, stride, first, accesses);
}

extern "C" __global__ void read_by_16(const u8 *memory, u32 bits, u64 stride, u64 first, u32 accesses, u32 *sums)
{
    sums[thread_index()] = read_all<uint4>(memory, bits, stride, first, accesses);
}

extern "C" __global__ void write_by_4(u8 *memory, u32 bits, u64 stride, u64 first, u32 accesses, u32 word)
{
    write_all<u32>(memory, bits, stride, first, accesses, word);
}

extern "C" __global__ void write_by_8(u8 *memory, u32 bits, u64 stride, u64 first, u32 accesses, u32 word)
{
    write_all<uint2>(memory, bits, stride, first, accesses, word);
}

extern "C" __global__ void write_by_16(u8 *memory, u32 bits, u64 stride, u64 first, u32 accesses, u32 word)
{
    write_all<uint4>(memory, bits, stride, first, accesses, word);
}
