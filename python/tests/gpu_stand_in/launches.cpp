// Modules, functions and launches of the probes' kernels.
#include "stand_in.h"

#include <algorithm>
#include <map>

#include "kernels.h"

Index threadIdx, blockIdx, blockDim, gridDim;

namespace stand_in {

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

}  // namespace stand_in

using namespace stand_in;

extern "C" {

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

}  // extern "C"
