// The driver itself, GPUs, contexts and peers.
#include "stand_in.h"

#include <stdio.h>

#include <algorithm>
#include <map>

namespace stand_in {

int current = -1;
std::vector<int> below;  // contexts that are current again later
std::map<int, std::vector<int>> peers;
bool initialised = false;

int gpus() { return (int)setting("OCTAVO_STAND_IN_GPUS", 1); }
uint64_t memory() { return setting("OCTAVO_STAND_IN_MEMORY", 256u << 20); }

}  // namespace stand_in

using namespace stand_in;

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
        {134, 0},         // the nearest memory of the host
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

Result cuCtxPushCurrent_v2(void *context)
{
    below.push_back(current);
    return cuCtxSetCurrent(context);
}

Result cuCtxPopCurrent_v2(void **context)
{
    if (below.empty()) return INVALID_CONTEXT;
    *context = (void *)(intptr_t)(current + 1);
    current = below.back();
    below.pop_back();
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

}  // extern "C"
