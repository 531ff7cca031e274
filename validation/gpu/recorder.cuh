// What the driver does with managed memory during a run, as CUPTI records it: files for `octavo import cupti`.
#pragma once

#include "support.cuh"

#include <dlfcn.h>

#include <mutex>

// Records runs if PROGRAMS_RECORDS names a folder. Recording slows the driver down, so such runs are not to be timed.
class Recorder {
public:
    Recorder() : folder_(std::getenv("PROGRAMS_RECORDS")) {}

    // Once there is a context: before that, CUPTI is not ready (error 13).
    void begin() {
        if (!folder_) return;
        if (!begun_) configure();
        begun_ = true;
        filled().clear();
        done(enable_(UNIFIED_MEMORY), "cuptiActivityEnable");
    }

    // Writes what was recorded since `begin` to FOLDER/NAME.activity.bin.
    void end(const std::string &name) {
        if (!folder_) return;
        done(flush_(FORCED), "cuptiActivityFlushAll");
        done(disable_(UNIFIED_MEMORY), "cuptiActivityDisable");
        done(flush_(FORCED), "cuptiActivityFlushAll");
        const std::lock_guard<std::mutex> guard(lock());
        if (filled().empty()) return;
        const std::string path = std::string(folder_) + "/" + name + ".activity.bin";
        std::FILE *file = std::fopen(path.c_str(), "wb");
        if (!file || std::fwrite(filled().data(), 1, filled().size(), file) != filled().size() || std::fclose(file)) {
            fail("cannot write " + path);
        }
    }

private:
    // CUpti_ActivityUnifiedMemoryCounterConfig, and numbers of cupti_activity.h.
    struct Counter {
        uint32_t scope, kind, device, enable;
    };
    static constexpr uint32_t ALL_DEVICES = 2, UNIFIED_MEMORY = 25, FORCED = 1, COUNTERS = 8;
    static constexpr size_t BUFFER = 1 << 20;

    void configure() {
        void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_GLOBAL);
        if (!library) fail(std::string("PROGRAMS_RECORDS needs CUPTI: ") + dlerror());
        load(library, "cuptiActivityRegisterCallbacks", register_);
        load(library, "cuptiActivityConfigureUnifiedMemoryCounter", configure_);
        load(library, "cuptiActivityEnable", enable_);
        load(library, "cuptiActivityDisable", disable_);
        load(library, "cuptiActivityFlushAll", flush_);
        done(register_(requested, completed), "cuptiActivityRegisterCallbacks");
        Counter counters[COUNTERS];
        for (uint32_t kind = 1; kind <= COUNTERS; ++kind) counters[kind - 1] = {ALL_DEVICES, kind, 0, 1};
        done(configure_(counters, COUNTERS), "cuptiActivityConfigureUnifiedMemoryCounter");
    }

    template <class Function>
    static void load(void *library, const char *name, Function &function) {
        function = reinterpret_cast<Function>(dlsym(library, name));
        if (!function) fail(std::string("this CUPTI has no ") + name);
    }

    static void done(int result, const char *call) {
        if (result != 0) fail(std::string(call) + " failed: error " + std::to_string(result));
    }

    static std::vector<uint8_t> &filled() {
        static std::vector<uint8_t> bytes;
        return bytes;
    }

    static std::mutex &lock() {
        static std::mutex one;
        return one;
    }

    static void requested(uint8_t **buffer, size_t *size, size_t *records) {
        *buffer = static_cast<uint8_t *>(std::aligned_alloc(8, BUFFER));
        *size = BUFFER, *records = 0;
    }

    static void completed(void *, uint32_t, uint8_t *buffer, size_t, size_t valid) {
        {
            const std::lock_guard<std::mutex> guard(lock());
            filled().insert(filled().end(), buffer, buffer + valid);
        }
        std::free(buffer);
    }

    const char *folder_;
    bool begun_ = false;
    int (*register_)(void (*)(uint8_t **, size_t *, size_t *), void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
    int (*configure_)(Counter *, uint32_t);
    int (*enable_)(uint32_t);
    int (*disable_)(uint32_t);
    int (*flush_)(uint32_t);
};
