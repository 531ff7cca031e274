// Kinds of memory, and a run of a program on one of them, phase by phase.
#pragma once

#include "support.cuh"

#include <sys/mman.h>

enum class Kind { device, managed, managed_prefetch, pinned, system };
constexpr Kind ALL_KINDS[] = {Kind::device, Kind::managed, Kind::managed_prefetch, Kind::pinned, Kind::system};

inline const char *name_of(Kind kind) {
    switch (kind) {
    case Kind::device: return "device";
    case Kind::managed: return "managed";
    case Kind::managed_prefetch: return "managed-prefetch";
    case Kind::pinned: return "pinned";
    case Kind::system: return "system";
    }
    return "";
}

// Why this machine cannot run `kind`; nothing if it can.
inline const char *obstacle(Kind kind) {
    int concurrent = 0, pageable = 0;
    CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
    CHECK(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0));
    if (kind == Kind::managed_prefetch && !concurrent) return "no concurrent access to managed memory";
    if (kind == Kind::system && !pageable) return "the GPU cannot access pageable memory";
    return nullptr;
}

// Memory of the operating system that nothing has touched. malloc would reuse what was freed.
inline void *map_host(size_t bytes) {
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap of " + std::to_string(bytes) + " bytes failed");
    return memory;
}

inline void unmap_host(void *memory, size_t bytes) {
    if (munmap(memory, bytes) != 0) fail("munmap failed");
}

// A buffer of a program.
struct Buffer {
    const char *name;
    size_t bytes;
    // What the host writes into all of it before the first launch; nullptr if it is no input.
    const void *input;
    // Whether the host reads all of it after the last launch.
    bool output;
};

// Seconds of each phase.
struct Phases {
    double allocate = 0, host_write = 0, copy_in = 0, kernels = 0, kernels_event = 0, copy_out = 0, host_read = 0,
           free = 0;
    double total() const { return allocate + host_write + copy_in + kernels + copy_out + host_read + free; }
};

// Reads all of `memory`.
inline uint64_t sum_of(const void *memory, size_t bytes) {
    const auto *words = static_cast<const uint32_t *>(memory);
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / 4; ++i) sum += words[i];
    return sum;
}

class Run;

// A program: its inputs and the expected results are made once, by the constructor, and serve all runs.
class Program {
public:
    virtual ~Program() = default;
    virtual std::vector<Buffer> buffers() const = 0;
    // Launches everything and does what the host does between launches.
    virtual void kernels(Run &run) const = 0;
    // What is wrong with the results, which are the outputs among `host`, by buffer; empty if nothing is.
    virtual std::string wrong(const std::vector<const void *> &host) const = 0;

    size_t bytes() const {
        size_t sum = 0;
        for (const Buffer &buffer : buffers()) sum += buffer.bytes;
        return sum;
    }
};

// One cold run.
class Run {
public:
    Phases phases;
    unsigned launches = 0;

    Run(const Program &program, Kind kind) : program_(program), kind_(kind), buffers_(program.buffers()) {
        host_.resize(buffers_.size());
        device_.resize(buffers_.size());
    }

    // Runs all phases; what is wrong with the results.
    std::string go() {
        for (auto &event : events()) {
            if (!event) CHECK(cudaEventCreate(&event));
        }
        CHECK(cudaDeviceSynchronize());
        timed(phases.allocate, [&] { each([&](size_t i) { allocate(i); }); });
        timed(phases.host_write, [&] {
            each([&](size_t i) {
                if (buffers_[i].input) std::memcpy(host_[i], buffers_[i].input, buffers_[i].bytes);
            });
        });
        if (kind_ == Kind::device) {
            timed(phases.allocate, [&] { each([&](size_t i) { CHECK(cudaMalloc(&device_[i], buffers_[i].bytes)); }); });
        }
        timed(phases.copy_in, [&] { copy_in(); });
        timed(phases.kernels, [&] {
            program_.kernels(*this);
            CHECK(cudaDeviceSynchronize());
        });
        for (unsigned batch = 0; batch < batches_; ++batch) {
            float milliseconds = 0;
            CHECK(cudaEventElapsedTime(&milliseconds, events()[2 * batch], events()[2 * batch + 1]));
            phases.kernels_event += milliseconds / 1e3;
        }
        if (kind_ == Kind::device) {
            timed(phases.copy_out, [&] { each([&](size_t i) { if (buffers_[i].output) to_host(i); }); });
            timed(phases.free, [&] { each([&](size_t i) { CHECK(cudaFree(device_[i])); }); });
        }
        timed(phases.host_read, [&] {
            each([&](size_t i) { if (buffers_[i].output) sink_ = sink_ + sum_of(host_[i], buffers_[i].bytes); });
        });
        std::string wrong = program_.wrong({host_.begin(), host_.end()});
        timed(phases.free, [&] { each([&](size_t i) { free_host(i); }); });
        return wrong;
    }

    // For kernels: where buffer `i` is for the GPU.
    template <class T>
    T *gpu(size_t i) const {
        return static_cast<T *>(device_[i]);
    }

    // Launches between the two are timed together by events.
    void begin() {
        if (2 * batches_ + 2 > EVENTS) fail("more launches than expected");
        CHECK(cudaEventRecord(events()[2 * batches_]));
    }
    void end(unsigned launched) {
        CHECK(cudaEventRecord(events()[2 * batches_ + 1]));
        ++batches_, launches += launched;
    }

    // The host waits for the launches and reads the 32-bit number that is buffer `i`.
    uint32_t read(size_t i) {
        if (kind_ == Kind::device) {
            to_host(i);
        } else {
            CHECK(cudaDeviceSynchronize());
        }
        return *static_cast<volatile uint32_t *>(host_[i]);
    }
    // The host sets it.
    void write(size_t i, uint32_t value) {
        *static_cast<volatile uint32_t *>(host_[i]) = value;
        if (kind_ == Kind::device) CHECK(cudaMemcpy(device_[i], host_[i], buffers_[i].bytes, cudaMemcpyHostToDevice));
    }

private:
    static constexpr unsigned EVENTS = 256;

    static std::vector<cudaEvent_t> &events() {
        static std::vector<cudaEvent_t> all(EVENTS);
        return all;
    }

    template <class Work>
    static void timed(double &phase, Work work) {
        const double begin = now();
        work();
        phase += now() - begin;
    }

    template <class Work>
    void each(Work work) {
        for (size_t i = 0; i < buffers_.size(); ++i) work(i);
    }

    // Device memory comes later, after the host has written.
    void allocate(size_t i) {
        const size_t bytes = buffers_[i].bytes;
        switch (kind_) {
        case Kind::device:
            // Scratch memory of the GPU has no counterpart on the host.
            host_[i] = buffers_[i].input || buffers_[i].output ? map_host(bytes) : nullptr;
            break;
        case Kind::managed:
        case Kind::managed_prefetch:
            CHECK(cudaMallocManaged(&host_[i], bytes, cudaMemAttachGlobal));
            device_[i] = host_[i];
            break;
        case Kind::pinned:
            CHECK(cudaHostAlloc(&host_[i], bytes, cudaHostAllocMapped));
            CHECK(cudaHostGetDevicePointer(&device_[i], host_[i], 0));
            break;
        case Kind::system: device_[i] = host_[i] = map_host(bytes); break;
        }
    }

    void copy_in() {
        if (kind_ == Kind::device) {
            each([&](size_t i) {
                if (!buffers_[i].input) return;
                CHECK(cudaMemcpy(device_[i], host_[i], buffers_[i].bytes, cudaMemcpyHostToDevice));
            });
            // A copy from pageable memory may return before the GPU has all of it.
            CHECK(cudaDeviceSynchronize());
        } else if (kind_ == Kind::managed_prefetch) {
            cudaMemLocation gpu{};
            gpu.type = cudaMemLocationTypeDevice;
            gpu.id = 0;
            each([&](size_t i) {
                if (buffers_[i].input) CHECK(cudaMemPrefetchAsync(device_[i], buffers_[i].bytes, gpu, 0, 0));
            });
            CHECK(cudaDeviceSynchronize());
        }
    }

    void to_host(size_t i) { CHECK(cudaMemcpy(host_[i], device_[i], buffers_[i].bytes, cudaMemcpyDeviceToHost)); }

    void free_host(size_t i) {
        switch (kind_) {
        case Kind::device:
            if (host_[i]) unmap_host(host_[i], buffers_[i].bytes);
            break;
        case Kind::managed:
        case Kind::managed_prefetch: CHECK(cudaFree(host_[i])); break;
        case Kind::pinned: CHECK(cudaFreeHost(host_[i])); break;
        case Kind::system: unmap_host(host_[i], buffers_[i].bytes); break;
        }
    }

    const Program &program_;
    Kind kind_;
    std::vector<Buffer> buffers_;
    std::vector<void *> host_, device_;
    unsigned batches_ = 0;
    inline static volatile uint64_t sink_ = 0;
};
