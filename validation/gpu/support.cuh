// What all programs use: checked calls, a clock, launches, Octavo's sizes and Octavo's random numbers.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

[[noreturn]] inline void fail(const std::string &message) {
    std::fflush(stdout);
    std::fprintf(stderr, "programs: %s\n", message.c_str());
    std::exit(1);
}

inline void checked(cudaError_t error, const char *call, int line) {
    if (error != cudaSuccess) {
        fail(std::string(call) + " (line " + std::to_string(line) + "): " + cudaGetErrorString(error));
    }
}
#define CHECK(call) checked((call), #call, __LINE__)

// Seconds on the host's steady clock.
inline double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments... arguments) {
    kernel<<<grid, block>>>(arguments...);
    CHECK(cudaGetLastError());
}

// Calls `work(first, end)` for equal parts of 0..count on several threads.
template <class Work>
void in_parallel(uint64_t count, Work work) {
    const uint64_t threads = std::min<uint64_t>(8, std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::thread> running;
    for (uint64_t thread = 0; thread < threads; ++thread) {
        running.emplace_back(work, count * thread / threads, count * (thread + 1) / threads);
    }
    for (auto &thread : running) thread.join();
}

// --- Sizes, as crates/octavo-workload/src/scale.rs has them -------------------------------------------------------

inline uint64_t to_granules(double elements, uint64_t granule) {
    const double granules = std::round(elements / static_cast<double>(granule));
    if (!(granules >= 1.0)) fail("the scale is so small that nothing is left of the workload");
    return static_cast<uint64_t>(granules) * granule;
}

inline uint64_t scaled_length(uint64_t published, double scale, uint64_t granule) {
    return to_granules(static_cast<double>(published) * scale, granule);
}

inline uint64_t scaled_side(uint64_t published, double scale, uint64_t granule) {
    return to_granules(static_cast<double>(published) * std::sqrt(scale), granule);
}

inline uint64_t scaled_power_of_two(uint64_t published, double scale, uint64_t smallest) {
    const double exponent = std::round(std::log2(static_cast<double>(published) * scale));
    if (!(exponent >= 0.0 && exponent <= 31.0)) fail("the scale is too small or too large");
    const uint64_t elements = uint64_t{1} << static_cast<unsigned>(exponent);
    if (elements < smallest) fail("the scale is too small");
    return elements;
}

// --- Random numbers -----------------------------------------------------------------------------------------------

// rand_chacha's ChaCha8Rng::seed_from_u64(seed), stream 0: Octavo draws its graphs and matrices from it.
class ChaCha8 {
public:
    explicit ChaCha8(uint64_t seed) {
        for (uint32_t &word : key_) {
            seed = seed * 6364136223846793005ull + 11634580027462260723ull;
            const auto shifted = static_cast<uint32_t>(((seed >> 18) ^ seed) >> 27);
            const auto by = static_cast<unsigned>(seed >> 59);
            word = shifted >> by | shifted << ((32 - by) & 31);
        }
    }

    uint32_t next32() {
        if (at_ == 16) block();
        return words_[at_++];
    }

    uint64_t next64() {
        const uint64_t low = next32();
        return low | static_cast<uint64_t>(next32()) << 32;
    }

    uint32_t below32(uint32_t bound) { return static_cast<uint32_t>(static_cast<uint64_t>(next32()) * bound >> 32); }

    uint64_t below64(uint64_t bound) {
        return static_cast<uint64_t>(static_cast<unsigned __int128>(next64()) * bound >> 64);
    }

private:
    static uint32_t turned(uint32_t word, unsigned by) { return word << by | word >> (32 - by); }

    static void quarter(uint32_t *x, int a, int b, int c, int d) {
        x[a] += x[b], x[d] = turned(x[d] ^ x[a], 16);
        x[c] += x[d], x[b] = turned(x[b] ^ x[c], 12);
        x[a] += x[b], x[d] = turned(x[d] ^ x[a], 8);
        x[c] += x[d], x[b] = turned(x[b] ^ x[c], 7);
    }

    void block() {
        uint32_t begin[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
        std::copy(key_, key_ + 8, begin + 4);
        begin[12] = static_cast<uint32_t>(counter_), begin[13] = static_cast<uint32_t>(counter_ >> 32);
        std::copy(begin, begin + 16, words_);
        for (int round = 0; round < 4; ++round) {
            for (int i = 0; i < 4; ++i) quarter(words_, i, i + 4, i + 8, i + 12);
            for (int i = 0; i < 4; ++i) quarter(words_, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12);
        }
        for (int i = 0; i < 16; ++i) words_[i] += begin[i];
        ++counter_, at_ = 0;
    }

    uint32_t key_[8];
    uint32_t words_[16];
    uint64_t counter_ = 0;
    int at_ = 16;
};

// A number that looks like any other for each number (the end of SplitMix64).
inline uint64_t mixed(uint64_t number) {
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9ull;
    number = (number ^ number >> 27) * 0x94D049BB133111EBull;
    return number ^ number >> 31;
}

// Another one for each 32-bit number: a permutation.
inline uint32_t mixed32(uint32_t number) {
    number = (number ^ number >> 16) * 0x7FEB352Du;
    number = (number ^ number >> 15) * 0x846CA68Bu;
    return number ^ number >> 16;
}
