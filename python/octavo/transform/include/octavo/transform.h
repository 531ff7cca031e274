// What programs call after `octavo transform`: memory whose placement Octavo's runtime decides when it is allocated.
//
// C++11 on top of the CUDA runtime (10.0 or newer) and octavo.h; link with -loctavo. OCTAVO_PLACEMENTS overrides the
// runtime: "d_in=managed,d_out=device", where * stands for every other buffer.
#ifndef OCTAVO_TRANSFORM_H
#define OCTAVO_TRANSFORM_H

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "../octavo.h"

/// What is known of a buffer where it is allocated.
struct octavo_buffer {
    const char *name;
    octavo_data data;

    explicit octavo_buffer(const char *name) : name(name), data() { data.struct_size = sizeof data; }

    /// Bounds of the first launch that is given the buffer.
    octavo_buffer &launch(dim3 grid, dim3 block) {
        data.blocks = uint64_t(grid.x) * grid.y * grid.z;
        data.threads_per_block = uint64_t(block.x) * block.y * block.z;
        return *this;
    }
};

namespace octavo_detail {

/// The constants of the machine; null is the built-in machine.
struct constants {
    octavo_machine *machine;
    bool usable;
};

/// Opened once. Not usable if OCTAVO_CONSTANTS names a file that the library refuses: another machine's answer would
/// pass for an answer for this one.
inline const constants &opened() {
    static const constants found = [] {
        constants each = {nullptr, false};
        each.usable = octavo_open(nullptr, &each.machine, nullptr, 0) >= 0;
        return each;
    }();
    return found;
}

inline bool is(const char *text, size_t length, const char *name) {
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/// What OCTAVO_PLACEMENTS says about a buffer, or -1. A name wins over the star.
inline octavo_placement ordered(const char *name) {
    octavo_placement found = -1;
    const char *entry = getenv("OCTAVO_PLACEMENTS");
    while (entry != nullptr && *entry != '\0') {
        const size_t length = strcspn(entry, ",");
        const size_t key = strcspn(entry, "=,");
        if (key < length) {
            const bool named = is(entry, key, name);
            const char *value = entry + key + 1;
            for (octavo_placement each = OCTAVO_DEVICE; each <= OCTAVO_PINNED; ++each) {
                if (!is(value, length - key - 1, octavo_placement_name(each))) continue;
                if (named) return each;
                if (is(entry, key, "*")) found = each;
            }
        }
        entry += length + (entry[length] == ',');
    }
    return found;
}

/// Where a buffer is to lie: as ordered, or as the runtime answers for the device memory that is free. Without an
/// answer, where the program had it.
inline octavo_placement decided(size_t size, const octavo_buffer &buffer, octavo_placement present) {
    if (size == 0) return present;
    const octavo_placement placement = ordered(buffer.name);
    if (placement >= 0) return placement;
    if (!opened().usable) return present;
    octavo_data asked = buffer.data;
    asked.bytes = size;
    octavo_answer answer = octavo_answer();
    answer.struct_size = sizeof answer;
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess || free == 0) return present;
    if (octavo_get_placements(opened().machine, &asked, 1, free, &answer) < 0) return present;
    if (present == OCTAVO_DEVICE || answer.placement != OCTAVO_DEVICE) return answer.placement;
    return answer.pinned_seconds < answer.managed_seconds ? OCTAVO_PINNED : OCTAVO_MANAGED;
}

/// Memory that the host uses, too, cannot lie on the device, nor be managed where host and device may not use it at the
/// same time and the program expects that they may.
inline octavo_placement possible(octavo_placement wanted, octavo_placement present) {
    if (present == OCTAVO_DEVICE) return wanted;
    if (wanted == OCTAVO_DEVICE) return present;
    int device = 0, together = 0;
    if (present == OCTAVO_PINNED && wanted == OCTAVO_MANAGED &&
        (cudaGetDevice(&device) != cudaSuccess ||
         cudaDeviceGetAttribute(&together, cudaDevAttrConcurrentManagedAccess, device) != cudaSuccess || !together))
        return present;
    return wanted;
}

inline cudaError_t allocate(void **pointer, size_t size, const octavo_buffer &buffer, octavo_placement present) {
    switch (possible(decided(size, buffer, present), present)) {
        case OCTAVO_MANAGED: return cudaMallocManaged(pointer, size, cudaMemAttachGlobal);
        case OCTAVO_PINNED: return cudaMallocHost(pointer, size);
        default: return cudaMalloc(pointer, size);
    }
}

}  // namespace octavo_detail

/// In place of cudaMalloc: device, managed or pinned memory.
template <typename T>
inline cudaError_t octavo_malloc(T **pointer, size_t size, const octavo_buffer &buffer) {
    return octavo_detail::allocate(reinterpret_cast<void **>(pointer), size, buffer, OCTAVO_DEVICE);
}

/// In place of cudaMallocManaged: managed or pinned memory.
template <typename T>
inline cudaError_t octavo_malloc_managed(T **pointer, size_t size, const octavo_buffer &buffer) {
    return octavo_detail::allocate(reinterpret_cast<void **>(pointer), size, buffer, OCTAVO_MANAGED);
}

/// With the flags, which can only be those of memory for all devices.
template <typename T>
inline cudaError_t octavo_malloc_managed(T **pointer, size_t size, unsigned int, const octavo_buffer &buffer) {
    return octavo_malloc_managed(pointer, size, buffer);
}

/// In place of cudaMallocHost: pinned or managed memory.
template <typename T>
inline cudaError_t octavo_malloc_host(T **pointer, size_t size, const octavo_buffer &buffer) {
    return octavo_detail::allocate(reinterpret_cast<void **>(pointer), size, buffer, OCTAVO_PINNED);
}

/// In place of cudaFree and cudaFreeHost: frees memory of every kind.
inline cudaError_t octavo_free(void *pointer) {
    cudaPointerAttributes found;
    if (pointer == nullptr) return cudaSuccess;
    if (cudaPointerGetAttributes(&found, pointer) != cudaSuccess) {
        cudaGetLastError();
        return cudaFree(pointer);
    }
    return found.type == cudaMemoryTypeHost ? cudaFreeHost(pointer) : cudaFree(pointer);
}

#endif
