// A floating-point type of 16 bits, its pair, and their conversions.
#define OCTAVO_SMALL_FLOAT(type, pair, name)                                                                          \
    struct __attribute__((aligned(2))) type {                                                                         \
        unsigned short bits;                                                                                          \
        type() = default;                                                                                             \
        __host__ __device__ type(float);                                                                              \
        __host__ __device__ operator float() const;                                                                   \
        __host__ __device__ type& operator+=(const type&);                                                            \
        __host__ __device__ type& operator-=(const type&);                                                            \
        __host__ __device__ type& operator*=(const type&);                                                            \
    };                                                                                                                \
    struct __attribute__((aligned(4))) pair {                                                                         \
        type x, y;                                                                                                    \
    };                                                                                                                \
    __host__ __device__ type __float2##name(float);                                                                   \
    __host__ __device__ float __##name##2float(type);                                                                 \
    __host__ __device__ pair __float2##name##2_rn(float);                                                             \
    __host__ __device__ pair __floats2##name##2_rn(float, float);
