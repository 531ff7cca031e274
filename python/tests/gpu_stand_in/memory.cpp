// Buffers, copies and fills.
#include "stand_in.h"

#include <sys/mman.h>

#include <map>

namespace stand_in {

std::map<uint64_t, Buffer> buffers;

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

Result release(const char *call, uint64_t address)
{
    finish_default_stream();
    auto found = buffers.find(address);
    if (found == buffers.end()) return refuse(call, "nothing was allocated there");
    munmap(found->second.mapping, found->second.mapped);
    buffers.erase(found);
    return SUCCESS;
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
    begin_by_default([=] {
        Opened opened;
        memcpy((void *)to, aside.data(), aside.size());
    });
    return SUCCESS;
}

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

}  // namespace stand_in

using namespace stand_in;

extern "C" {

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
    if (current >= 0 && used(current, MANAGED) + bytes > memory() / 4)
        return refuse("cuMemAllocManaged", "more than a quarter of the GPU's memory", OUT_OF_MEMORY);
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
    begin_by_default([=] {
        Opened opened;
        memset((void *)address, value, bytes);
    });
    return SUCCESS;
}
Result cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void *stream)
{
    return put((Stream *)stream, [=]() -> Result {
        if (!holder(address, bytes) && !mapped(address, bytes))
            return refuse("cuMemsetD8Async", "it leaves its buffer");
        Opened opened;
        memset((void *)address, value, bytes);
        return SUCCESS;
    });
}

}  // extern "C"
