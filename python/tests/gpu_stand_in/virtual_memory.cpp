// Addresses and pieces of memory apart: a piece is a file in memory, mapped at reserved addresses. The host may touch what
// a device can access, so that a test sees what kernels would.
#include "stand_in.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>

namespace stand_in {

struct Piece {
    int file, place;  // a GPU, or -1 for the host
    uint64_t bytes;
};
struct Mapping {
    uint64_t bytes, piece;
};

std::map<uint64_t, uint64_t> ranges;
std::map<uint64_t, Piece> pieces;
std::map<uint64_t, Mapping> mappings;
uint64_t last_piece = 0;

bool mapped(uint64_t address, uint64_t bytes)
{
    auto after = mappings.upper_bound(address);
    if (after == mappings.begin()) return false;
    auto &[begin, mapping] = *std::prev(after);
    return address + bytes <= begin + mapping.bytes;
}

Result place_at(const char *call, uint64_t address, uint64_t bytes, int flags, int file)
{
    void *found = mmap((void *)address, bytes, PROT_NONE, flags | MAP_FIXED, file, 0);
    return found == MAP_FAILED ? refuse(call, "the host has no memory", OUT_OF_MEMORY) : SUCCESS;
}

struct Location {
    int kind, id;
};
struct Properties {
    int kind, handles;
    Location location;
    void *windows;
    uint8_t flags[8];
};
struct Access {
    Location location;
    int flags;
};

}  // namespace stand_in

using namespace stand_in;

extern "C" {

Result cuMemGetAllocationGranularity(size_t *bytes, const Properties *, int)
{
    CALL(cuMemGetAllocationGranularity);
    *bytes = BLOCK;
    return SUCCESS;
}

Result cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t, uint64_t)
{
    CALL(cuMemAddressReserve);
    if (bytes == 0 || bytes % BLOCK) return refuse("cuMemAddressReserve", "no multiple of the granularity");
    void *found = mmap(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) return refuse("cuMemAddressReserve", "no addresses are left", OUT_OF_MEMORY);
    *address = ((uint64_t)found + alignment - 1) / alignment * alignment;
    ranges[*address] = bytes;
    note("reserve");
    return SUCCESS;
}

Result cuMemAddressFree(uint64_t address, size_t bytes)
{
    CALL(cuMemAddressFree);
    auto inside = mappings.lower_bound(address);
    if (inside != mappings.end() && inside->first < address + bytes) return refuse("cuMemAddressFree", "it is mapped");
    if (!ranges.count(address) || ranges[address] != bytes) return refuse("cuMemAddressFree", "there is no such range");
    ranges.erase(address);
    munmap((void *)address, bytes);
    note("free");
    return SUCCESS;
}

Result cuMemCreate(uint64_t *piece, size_t bytes, const Properties *properties, uint64_t)
{
    CALL(cuMemCreate);
    Location at = properties->location;
    if (properties->kind != 1 || properties->handles != 0) return refuse("cuMemCreate", "no pinned memory of its own");
    if (at.kind == 1 ? at.id >= gpus() : at.kind != 3 || at.id != 0) return refuse("cuMemCreate", "no such place");
    if (bytes == 0 || bytes % BLOCK) return refuse("cuMemCreate", "no multiple of the granularity");
    uint64_t used = bytes;
    for (auto &[number, other] : pieces)
        if (at.kind == 1 && other.place == at.id) used += other.bytes;
    if (at.kind == 1 && used > memory()) return refuse("cuMemCreate", "the GPU has too little", OUT_OF_MEMORY);
    int file = memfd_create("piece", 0);
    if (file < 0 || ftruncate(file, (off_t)bytes)) return refuse("cuMemCreate", "the host has no memory", OUT_OF_MEMORY);
    *piece = ++last_piece;
    pieces[*piece] = {file, at.kind == 1 ? at.id : -1, bytes};
    note(at.kind == 1 ? "create" : "create on host");
    return SUCCESS;
}

Result cuMemRelease(uint64_t piece)
{
    CALL(cuMemRelease);
    if (!pieces.count(piece)) return refuse("cuMemRelease", "there is no such piece");
    for (auto &[address, mapping] : mappings)
        if (mapping.piece == piece) return refuse("cuMemRelease", "it is mapped");
    note(pieces[piece].place < 0 ? "release on host" : "release");
    close(pieces[piece].file);
    pieces.erase(piece);
    return SUCCESS;
}

Result cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t piece, uint64_t flags)
{
    CALL(cuMemMap);
    auto after = ranges.upper_bound(address);
    if (after == ranges.begin() || address + bytes > std::prev(after)->first + std::prev(after)->second)
        return refuse("cuMemMap", "the addresses are not reserved");
    auto behind = mappings.lower_bound(address + bytes);
    if (behind != mappings.begin() && std::prev(behind)->first + std::prev(behind)->second.bytes > address)
        return refuse("cuMemMap", "something is mapped there");
    if (!pieces.count(piece) || pieces[piece].bytes != bytes || offset || flags)
        return refuse("cuMemMap", "there is no such piece");
    mappings[address] = {bytes, piece};
    note("map");
    return place_at("cuMemMap", address, bytes, MAP_SHARED, pieces[piece].file);
}

Result cuMemSetAccess(uint64_t address, size_t bytes, const Access *who, size_t count)
{
    CALL(cuMemSetAccess);
    if (!mappings.count(address) || mappings[address].bytes != bytes)
        return refuse("cuMemSetAccess", "nothing is mapped there");
    for (size_t at = 0; at < count; at++)
        if (who[at].location.kind != 1 || who[at].location.id >= gpus() || (who[at].flags != 1 && who[at].flags != 3))
            return refuse("cuMemSetAccess", "no such device, or no such right");
    mprotect((void *)address, bytes, who[0].flags == 3 ? PROT_READ | PROT_WRITE : PROT_READ);
    return SUCCESS;
}

Result cuMemUnmap(uint64_t address, size_t bytes)
{
    CALL(cuMemUnmap);
    if (!mappings.count(address) || mappings[address].bytes != bytes)
        return refuse("cuMemUnmap", "nothing is mapped there");
    mappings.erase(address);
    note("unmap");
    return place_at("cuMemUnmap", address, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

}  // extern "C"
