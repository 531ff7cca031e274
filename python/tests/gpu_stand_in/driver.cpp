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
#include "device.h"

#include <sys/mman.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels.h"

Index threadIdx, blockIdx, blockDim, gridDim;

namespace {

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

const uint64_t PAGE = 4096;
const uint64_t BLOCK = 2 << 20;

uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, nullptr, 10) : otherwise;
}

void note(const std::string &line)
{
    const char *path = getenv("OCTAVO_STAND_IN_LOG");
    if (!path) return;
    FILE *file = fopen(path, "a");
    if (!file) return;
    fprintf(file, "%s\n", line.c_str());
    fclose(file);
}

Result refuse(const char *call, const std::string &why, Result result = INVALID_VALUE)
{
    fprintf(stderr, "stand-in: %s refuses: %s\n", call, why.c_str());
    note(std::string("refused ") + call + " " + why);
    return result;
}

bool failing(const char *call)
{
    const char *wanted = getenv("OCTAVO_STAND_IN_FAIL");
    return wanted && strcmp(wanted, call) == 0;
}

#define CALL(name) \
    if (failing(#name)) return refuse(#name, "it was told to", UNKNOWN)

enum Kind { DEVICE, PINNED, MANAGED };

struct Buffer {
    Kind kind;
    int gpu;
    uint64_t bytes;
    uint8_t *mapping;
    size_t mapped;
};

std::map<uint64_t, Buffer> buffers;
std::map<int, std::vector<int>> peers;
int current = -1;
bool initialised = false;

int gpus() { return (int)setting("OCTAVO_STAND_IN_GPUS", 1); }
uint64_t memory() { return setting("OCTAVO_STAND_IN_MEMORY", 256u << 20); }

uint64_t used(int gpu, Kind kind)
{
    uint64_t sum = 0;
    for (auto &[address, buffer] : buffers)
        if (buffer.gpu == gpu && buffer.kind == kind) sum += buffer.bytes;
    return sum;
}

uint64_t free_memory(int gpu)
{
    uint64_t taken = used(gpu, DEVICE);
    return taken < memory() ? memory() - taken : 0;
}

// The buffer that holds all of [address, address + bytes), or none.
Buffer *holder(uint64_t address, uint64_t bytes)
{
    auto after = buffers.upper_bound(address);
    if (after == buffers.begin()) return nullptr;
    auto &[begin, buffer] = *std::prev(after);
    return address + bytes <= begin + buffer.bytes ? &buffer : nullptr;
}

void protect(bool open)
{
    for (auto &[address, buffer] : buffers)
        if (buffer.kind == DEVICE)
            mprotect((void *)(address / PAGE * PAGE), (buffer.bytes + address % PAGE + PAGE - 1) / PAGE * PAGE,
                     open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

// The host may touch memory of the GPU only inside this.
struct Opened {
    Opened() { protect(true); }
    ~Opened() { protect(false); }
};

// From a block's boundary on, with a page behind that nobody can touch.
Result allocate(const char *call, uint64_t *address, uint64_t bytes, Kind kind)
{
    if (current < 0) return refuse(call, "no context is current", INVALID_CONTEXT);
    if (bytes == 0) return refuse(call, "no bytes");
    uint64_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    size_t mapped = whole + BLOCK + PAGE;
    void *mapping = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return refuse(call, "the host has no memory", OUT_OF_MEMORY);
    uint64_t begin = ((uint64_t)mapping + BLOCK - 1) / BLOCK * BLOCK;
    if (kind != DEVICE) mprotect((void *)begin, whole, PROT_READ | PROT_WRITE);
    buffers[begin] = {kind, current, bytes, (uint8_t *)mapping, mapped};
    *address = begin;
    return SUCCESS;
}

void finish_default_stream();

Result release(const char *call, uint64_t address)
{
    finish_default_stream();
    auto found = buffers.find(address);
    if (found == buffers.end()) return refuse(call, "nothing was allocated there");
    munmap(found->second.mapping, found->second.mapped);
    buffers.erase(found);
    return SUCCESS;
}

// Copies from pageable memory to the GPU, and fills: the driver's reference ("API synchronization behavior") lets their
// calls return before the bytes have come to where they go. They do when the default stream does something else or is
// waited for, which launches into streams that do not wait for it do not bring about.
std::vector<std::function<void()>> begun;

void finish_default_stream()
{
    auto all = std::move(begun);
    begun.clear();
    for (auto &step : all) step();
}

struct Stream {
    bool waits_for_default = true;
    bool recording = false;
    std::vector<std::function<Result()>> recorded;
};

struct Graph {
    std::vector<std::function<Result()>> steps;
};

struct Event {
    bool recorded = false;
    uint64_t nanoseconds = 0;
};

Result put(Stream *stream, std::function<Result()> step)
{
    if (stream && stream->recording) {
        stream->recorded.push_back(std::move(step));
        return SUCCESS;
    }
    return step();
}

bool on_gpu(uint64_t address)
{
    Buffer *buffer = holder(address, 1);
    return buffer && buffer->kind == DEVICE;
}

// Buffers of the driver are checked; other addresses are the host's own.
Result copy(const char *call, uint64_t to, uint64_t from, uint64_t bytes)
{
    for (uint64_t address : {to, from}) {
        Buffer *buffer = holder(address, 1);
        if (buffer && !holder(address, bytes)) return refuse(call, "the copy leaves its buffer");
    }
    Opened opened;
    memcpy((void *)to, (void *)from, bytes);
    return SUCCESS;
}

// By the default stream, as calls do that name none.
Result copy_by_default(const char *call, uint64_t to, uint64_t from, uint64_t bytes)
{
    finish_default_stream();
    if (!on_gpu(to) || holder(from, 1)) return copy(call, to, from, bytes);
    if (!holder(to, bytes)) return refuse(call, "the copy leaves its buffer");
    std::vector<uint8_t> aside((uint8_t *)from, (uint8_t *)from + bytes);
    begun.push_back([=] {
        Opened opened;
        memcpy((void *)to, aside.data(), aside.size());
    });
    return SUCCESS;
}

struct Module {
    const char *name;
};

struct Function {
    const Kernel *kernel;
    uint64_t shared = 48 << 10;
};

// The kernels' names stand in what the compiler made; the module is the one whose names all do.
const char *module_of(const char *image)
{
    // ELF: as long as its section table says; PTX: text.
    size_t length;
    if (memcmp(image, "\177ELF", 4) == 0) {
        uint64_t sections = *(const uint64_t *)(image + 40);
        uint16_t size = *(const uint16_t *)(image + 58), count = *(const uint16_t *)(image + 60);
        uint64_t programs = *(const uint64_t *)(image + 32);
        uint16_t program_size = *(const uint16_t *)(image + 54), program_count = *(const uint16_t *)(image + 56);
        length = std::max(sections + (uint64_t)size * count, programs + (uint64_t)program_size * program_count);
    } else {
        length = strlen(image);
    }
    std::string text(image, length);
    std::map<std::string, std::pair<int, int>> found;
    for (const Kernel &kernel : KERNELS) {
        auto &[all, here] = found[kernel.module];
        all += 1;
        here += text.find(kernel.name) != std::string::npos;
    }
    const char *best = nullptr;
    int most = 0;
    for (const Kernel &kernel : KERNELS) {
        auto [all, here] = found[kernel.module];
        if (all == here && all > most) best = kernel.module, most = all;
    }
    return best;
}

void run(const Kernel *kernel, unsigned blocks, unsigned threads, void **arguments)
{
    gridDim = {blocks, 1, 1};
    blockDim = {threads, 1, 1};
    for (unsigned block = 0; block < blocks; block++)
        for (unsigned thread = 0; thread < threads; thread++) {
            blockIdx = {block, 0, 0};
            threadIdx = {thread, 0, 0};
            kernel->call(arguments);
        }
}

}  // namespace

extern "C" {

Result cuInit(unsigned)
{
    CALL(cuInit);
    if (gpus() == 0) return NO_DEVICE;
    initialised = true;
    return SUCCESS;
}

Result cuDriverGetVersion(int *version)
{
    *version = (int)setting("OCTAVO_STAND_IN_CUDA", 12040);
    return SUCCESS;
}

// The compiler asks for private tables of a driver that it finds, and does without.
Result cuGetExportTable(const void **table, const void *)
{
    *table = nullptr;
    return NOT_FOUND;
}

Result cuGetErrorName(Result error, const char **text)
{
    static const std::map<int, const char *> names = {
        {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},     {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},             {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
        {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},     {UNKNOWN, "CUDA_ERROR_UNKNOWN"},
        {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},   {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
    };
    auto found = names.find(error);
    *text = found == names.end() ? "CUDA_ERROR_UNKNOWN" : found->second;
    return SUCCESS;
}

Result cuGetErrorString(Result, const char **text)
{
    *text = "the stand-in says no";
    return SUCCESS;
}

Result cuDeviceGetCount(int *count)
{
    *count = gpus();
    return initialised ? SUCCESS : refuse("cuDeviceGetCount", "cuInit was not called");
}

Result cuDeviceGet(int *device, int index)
{
    if (index < 0 || index >= gpus()) return INVALID_DEVICE;
    *device = index;
    return SUCCESS;
}

Result cuDeviceGetName(char *name, int length, int)
{
    snprintf(name, (size_t)length, "Stand-in (no GPU)");
    return SUCCESS;
}

Result cuDeviceGetUuid(void *uuid, int device)
{
    memset(uuid, device + 1, 16);
    return SUCCESS;
}

Result cuDeviceTotalMem_v2(size_t *bytes, int)
{
    *bytes = memory();
    return SUCCESS;
}

Result cuDeviceGetPCIBusId(char *text, int length, int device)
{
    snprintf(text, (size_t)length, "0000:%02x:00.0", device + 1);
    return SUCCESS;
}

Result cuDeviceGetAttribute(int *value, int which, int)
{
    static const std::map<int, int> fixed = {
        {10, 32},         // warp size
        {13, 2000000},    // clock, kHz
        {16, 2},          // multiprocessors
        {18, 0},          // integrated
        {36, 1000000},    // memory clock, kHz
        {37, 256},        // memory bus, bits
        {38, 1 << 20},    // second-level cache, bytes
        {39, 256},        // threads a multiprocessor
        {75, 8},          // compute capability
        {76, 0},
        {81, 65536},      // shared memory a multiprocessor
        {82, 65536},      // registers a multiprocessor
        {83, 1},          // managed memory
        {86, 0},          // native atomics with the host
        {97, 65536},      // shared memory a block may ask for
        {100, 0},         // the host's page tables
        {8, 49152},       // shared memory a block has
        {40, 4},          // copy engines
        {1, 256},         // threads a block
    };
    if (which == 88) return *value = (int)setting("OCTAVO_STAND_IN_PAGEABLE", 0), SUCCESS;
    if (which == 89) return *value = (int)setting("OCTAVO_STAND_IN_CONCURRENT", 1), SUCCESS;
    auto found = fixed.find(which);
    if (found == fixed.end()) return refuse("cuDeviceGetAttribute", "attribute " + std::to_string(which));
    *value = found->second;
    return SUCCESS;
}

Result cuDevicePrimaryCtxRetain(void **context, int device)
{
    CALL(cuDevicePrimaryCtxRetain);
    *context = (void *)(intptr_t)(device + 1);
    return SUCCESS;
}

Result cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }

Result cuCtxSetCurrent(void *context)
{
    current = (int)(intptr_t)context - 1;
    return SUCCESS;
}

Result cuCtxGetCurrent(void **context)
{
    *context = (void *)(intptr_t)(current + 1);
    return SUCCESS;
}

Result cuCtxSynchronize()
{
    finish_default_stream();
    return current < 0 ? INVALID_CONTEXT : SUCCESS;
}

Result cuDeviceCanAccessPeer(int *can, int from, int to)
{
    *can = from != to;
    return SUCCESS;
}

Result cuDeviceGetP2PAttribute(int *value, int which, int, int)
{
    *value = which == 1 ? 0 : 1;
    return SUCCESS;
}

Result cuCtxEnablePeerAccess(void *context, unsigned)
{
    int peer = (int)(intptr_t)context - 1;
    auto &known = peers[current];
    if (std::count(known.begin(), known.end(), peer)) return PEER_ACCESS_ALREADY_ENABLED;
    known.push_back(peer);
    return SUCCESS;
}

Result cuCtxDisablePeerAccess(void *context)
{
    int peer = (int)(intptr_t)context - 1;
    auto &known = peers[current];
    auto found = std::find(known.begin(), known.end(), peer);
    if (found == known.end()) return PEER_ACCESS_NOT_ENABLED;
    known.erase(found);
    return SUCCESS;
}

Result cuMemGetInfo_v2(size_t *available, size_t *total)
{
    if (current < 0) return INVALID_CONTEXT;
    *available = free_memory(current);
    *total = memory();
    return SUCCESS;
}

Result cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    CALL(cuMemAlloc_v2);
    if (current >= 0 && bytes > free_memory(current))
        return refuse("cuMemAlloc", std::to_string(bytes) + " bytes, and the GPU has too little", OUT_OF_MEMORY);
    return allocate("cuMemAlloc", address, bytes, DEVICE);
}

Result cuMemAllocManaged(uint64_t *address, size_t bytes, unsigned)
{
    CALL(cuMemAllocManaged);
    // The promise that no probe oversubscribes a GPU.
    if (current >= 0 && used(current, MANAGED) + bytes > memory() / 2)
        return refuse("cuMemAllocManaged", "more than half of the GPU's memory", OUT_OF_MEMORY);
    if (current >= 0 && used(current, DEVICE) + used(current, MANAGED) + bytes > memory())
        return refuse("cuMemAllocManaged", "more than the GPU's memory, with what is allocated there", OUT_OF_MEMORY);
    return allocate("cuMemAllocManaged", address, bytes, MANAGED);
}

Result cuMemHostAlloc(void **pointer, size_t bytes, unsigned)
{
    CALL(cuMemHostAlloc);
    return allocate("cuMemHostAlloc", (uint64_t *)pointer, bytes, PINNED);
}

Result cuMemFree_v2(uint64_t address) { return release("cuMemFree", address); }
Result cuMemFreeHost(void *pointer) { return release("cuMemFreeHost", (uint64_t)pointer); }

struct Location {
    int kind, id;
};

Result movable(const char *call, uint64_t address, size_t bytes, Location location)
{
    Buffer *buffer = holder(address, bytes);
    bool system = !holder(address, 1) && setting("OCTAVO_STAND_IN_PAGEABLE", 0);
    if (!system && (!buffer || buffer->kind != MANAGED)) return refuse(call, "not all of it is managed");
    if (location.kind == 1 ? location.id >= gpus() : location.kind != 2) return refuse(call, "no such place");
    return SUCCESS;
}

Result cuMemAdvise_v2(uint64_t address, size_t bytes, int advice, Location location)
{
    CALL(cuMemAdvise_v2);
    if (advice < 1 || advice > 6) return refuse("cuMemAdvise", "no such advice");
    note("advise " + std::to_string(advice) + " " + std::to_string(location.kind));
    return movable("cuMemAdvise", address, bytes, location);
}

Result cuMemPrefetchAsync_v2(uint64_t address, size_t bytes, Location location, unsigned, void *)
{
    CALL(cuMemPrefetchAsync_v2);
    return movable("cuMemPrefetchAsync", address, bytes, location);
}

Result cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    CALL(cuMemcpyAsync);
    return put((Stream *)stream, [=] { return copy("cuMemcpyAsync", to, from, bytes); });
}

Result cuMemcpy(uint64_t to, uint64_t from, size_t bytes) { return copy_by_default("cuMemcpy", to, from, bytes); }
Result cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    return copy_by_default("cuMemcpyHtoD", to, (uint64_t)from, bytes);
}
Result cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    return copy_by_default("cuMemcpyDtoH", (uint64_t)to, from, bytes);
}
Result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    return cuMemcpyAsync(to, (uint64_t)from, bytes, stream);
}
Result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    return cuMemcpyAsync((uint64_t)to, from, bytes, stream);
}
Result cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) { return copy_by_default("cuMemcpyDtoD", to, from, bytes); }
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    return cuMemcpyAsync(to, from, bytes, stream);
}
Result cuMemcpyPeerAsync(uint64_t to, void *, uint64_t from, void *, size_t bytes, void *stream)
{
    return cuMemcpyAsync(to, from, bytes, stream);
}

Result cuMemsetD8_v2(uint64_t address, unsigned char value, size_t bytes)
{
    if (!holder(address, bytes)) return refuse("cuMemsetD8", "it leaves its buffer");
    begun.push_back([=] {
        Opened opened;
        memset((void *)address, value, bytes);
    });
    return SUCCESS;
}
Result cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void *stream)
{
    return put((Stream *)stream, [=]() -> Result {
        if (!holder(address, bytes)) return refuse("cuMemsetD8Async", "it leaves its buffer");
        Opened opened;
        memset((void *)address, value, bytes);
        return SUCCESS;
    });
}

Result cuModuleLoadData(void **module, const void *image)
{
    CALL(cuModuleLoadData);
    const char *name = module_of((const char *)image);
    if (!name) return refuse("cuModuleLoadData", "no probe has kernels of these names", NOT_FOUND);
    *module = new Module{name};
    return SUCCESS;
}

Result cuModuleUnload(void *module)
{
    delete (Module *)module;
    return SUCCESS;
}

Result cuModuleGetFunction(void **function, void *module, const char *name)
{
    for (const Kernel &kernel : KERNELS)
        if (strcmp(kernel.module, ((Module *)module)->name) == 0 && strcmp(kernel.name, name) == 0) {
            *function = new Function{&kernel};
            return SUCCESS;
        }
    return refuse("cuModuleGetFunction", name, NOT_FOUND);
}

Result cuFuncSetAttribute(void *function, int which, int value)
{
    if (which == 8) ((Function *)function)->shared = (uint64_t)value;
    return value > 65536 ? refuse("cuFuncSetAttribute", "too much shared memory") : SUCCESS;
}

Result cuFuncGetAttribute(int *value, int, void *) { return *value = 16, SUCCESS; }

Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int threads, size_t shared)
{
    int by_threads = 256 / std::max(threads, 1);
    int by_shared = shared ? (int)(65536 / shared) : by_threads;
    *blocks = std::min({by_threads, by_shared, 32});
    return SUCCESS;
}

Result cuLaunchKernel(void *function, unsigned blocks, unsigned y, unsigned z, unsigned threads, unsigned ty,
                      unsigned tz, unsigned shared, void *stream, void **arguments, void **extra)
{
    CALL(cuLaunchKernel);
    if (!stream || ((Stream *)stream)->waits_for_default) finish_default_stream();
    auto *called = (Function *)function;
    if (y != 1 || z != 1 || ty != 1 || tz != 1 || extra) return refuse("cuLaunchKernel", "more than one dimension");
    if (blocks == 0 || threads == 0 || threads > 1024) return refuse("cuLaunchKernel", "an empty or too wide launch");
    if (shared > called->shared) return refuse("cuLaunchKernel", "more shared memory than was allowed");
    // The arguments are copied when a launch is put into a stream.
    std::vector<uint64_t> values(called->kernel->arguments);
    for (size_t index = 0; index < values.size(); index++)
        memcpy(&values[index], arguments[index], called->kernel->sizes[index]);
    note(std::string("kernel ") + called->kernel->module + " " + called->kernel->name);
    return put((Stream *)stream, [=]() mutable {
        std::vector<void *> pointers;
        for (uint64_t &value : values) pointers.push_back(&value);
        Opened opened;
        run(called->kernel, blocks, threads, pointers.data());
        return SUCCESS;
    });
}

Result cuStreamCreate(void **stream, unsigned flags)
{
    *stream = new Stream{flags != 1};
    return SUCCESS;
}
Result cuStreamDestroy_v2(void *stream)
{
    delete (Stream *)stream;
    return SUCCESS;
}
Result cuStreamSynchronize(void *stream)
{
    if (stream && ((Stream *)stream)->recording) return refuse("cuStreamSynchronize", "the stream is being recorded");
    if (!stream) finish_default_stream();
    return SUCCESS;
}
Result cuStreamWaitEvent(void *, void *, unsigned) { return SUCCESS; }

Result cuStreamBeginCapture_v2(void *stream, int)
{
    ((Stream *)stream)->recording = true;
    return SUCCESS;
}
Result cuStreamEndCapture(void *stream, void **graph)
{
    auto *ended = (Stream *)stream;
    if (!ended->recording) return refuse("cuStreamEndCapture", "nothing is being recorded");
    ended->recording = false;
    *graph = new Graph{std::move(ended->recorded)};
    ended->recorded.clear();
    return SUCCESS;
}
Result cuGraphInstantiateWithFlags(void **ready, void *graph, unsigned long long)
{
    *ready = new Graph(*(Graph *)graph);
    return SUCCESS;
}
Result cuGraphLaunch(void *ready, void *)
{
    for (auto &step : ((Graph *)ready)->steps)
        if (Result result = step()) return result;
    return SUCCESS;
}
Result cuGraphUpload(void *, void *) { return SUCCESS; }
Result cuGraphExecDestroy(void *ready)
{
    delete (Graph *)ready;
    return SUCCESS;
}
Result cuGraphDestroy(void *graph)
{
    delete (Graph *)graph;
    return SUCCESS;
}

Result cuEventCreate(void **event, unsigned)
{
    *event = new Event;
    return SUCCESS;
}
Result cuEventRecord(void *event, void *)
{
    *(Event *)event = {true, stand_in_nanoseconds()};
    return SUCCESS;
}
Result cuEventSynchronize(void *) { return SUCCESS; }
Result cuEventQuery(void *event) { return ((Event *)event)->recorded ? SUCCESS : NOT_READY; }
Result cuEventDestroy_v2(void *event)
{
    delete (Event *)event;
    return SUCCESS;
}
Result cuEventElapsedTime(float *milliseconds, void *begin, void *end)
{
    auto *first = (Event *)begin, *last = (Event *)end;
    if (!first->recorded || !last->recorded) return refuse("cuEventElapsedTime", "an event was not recorded");
    *milliseconds = (float)((double)(last->nanoseconds - first->nanoseconds) * 1e-6);
    return SUCCESS;
}

}  // extern "C"
