// A driver of a GPU that is not there: the calls that the probes make, carried out on the host, with their arguments
// checked as the real one would not. What it measures means nothing; that it can be measured at all is the test.
//
// Calls return when they are done, and threads run one after another; only what the default stream may still be doing
// when its call returns waits until somebody waits for that stream. Memory of the GPU cannot be touched by the host,
// and every buffer ends at a page that nobody can touch, so that probes that go astray crash. A refusal is written to
// standard error, as a probe may swallow the number.
//
// Environment: OCTAVO_STAND_IN_GPUS (1), OCTAVO_STAND_IN_MEMORY (bytes, 256 MiB), OCTAVO_STAND_IN_PAGEABLE (0: the GPU
// cannot touch the system's memory), OCTAVO_STAND_IN_CONCURRENT (1), OCTAVO_STAND_IN_CUDA (12040), OCTAVO_STAND_IN_LOG
// (a file that gets a line for each call worth testing), OCTAVO_STAND_IN_FAIL (name of a call that fails).
#pragma once
#include "device.h"

#include <functional>
#include <string>
#include <vector>

enum Result {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    NOT_FOUND = 500,
    NOT_READY = 600,
    NOT_SUPPORTED = 801,
    UNKNOWN = 999,
};

namespace stand_in {

const uint64_t PAGE = 4096;
const uint64_t BLOCK = 2 << 20;

// Settings, the log and refusals (settings.cpp).
uint64_t setting(const char *name, uint64_t otherwise);
void note(const std::string &line);
Result refuse(const char *call, const std::string &why, Result result = INVALID_VALUE);
bool failing(const char *call);

#define CALL(name) \
    if (failing(#name)) return refuse(#name, "it was told to", UNKNOWN)

// GPUs (devices.cpp).
extern int current;
int gpus();
uint64_t memory();

enum Kind { DEVICE, PINNED, MANAGED };

struct Buffer {
    Kind kind;
    int gpu;
    uint64_t bytes;
    uint8_t *mapping;
    size_t mapped;
};

// The buffer that holds all of [address, address + bytes), or none (memory.cpp).
Buffer *holder(uint64_t address, uint64_t bytes);
void protect(bool open);

// Whether a piece of memory is mapped at all of these addresses (virtual_memory.cpp).
bool mapped(uint64_t address, uint64_t bytes);

// The host may touch memory of the GPU only inside this.
struct Opened {
    Opened() { protect(true); }
    ~Opened() { protect(false); }
};

struct Stream {
    bool waits_for_default = true;
    bool recording = false;
    std::vector<std::function<Result()>> recorded;
};

// Copies from pageable memory to the GPU, and fills: the driver's reference ("API synchronization behavior") lets their
// calls return before the bytes have come to where they go. They do when the default stream does something else or is
// waited for, which launches into streams that do not wait for it do not bring about (streams.cpp).
void begin_by_default(std::function<void()> step);
void finish_default_stream();
Result put(Stream *stream, std::function<Result()> step);

}  // namespace stand_in
