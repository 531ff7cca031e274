/* A driver that stands in for libcuda: its memory is the host's, but it knows what kind each piece is of, and refuses
 * what the kind does not allow. Allocations above STAND_IN_LIMIT bytes fail, and all of the kind that STAND_IN_REFUSED
 * names; with STAND_IN_BUSY, the first wait for a context fails. Every thread needs a context of its own choice. What it
 * is told goes to the file that STAND_IN_LOG names, a line a call. */
#define _GNU_SOURCE
#include "stand_in.h"
#include "unified.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 1, OUT_OF_MEMORY = 2, NO_CONTEXT = 201, BUSY = 600, UNSUPPORTED = 801, MOST = 4096, DEVICES = 2, DEEP = 4 };

/* What allocating takes, ns, measured on the machine of unified.c: device memory, pinned memory once and a page of 4 KiB,
 * managed memory and what is freed. */
static const double DEVICE_TIME = 150000, PINNED_TIME = 330000, PINNED_PAGE = 360, CALL_TIME = 20000;

/* "gone" is the kind of what a reset took away: its address is given out again first. */
static struct { char *at; size_t size; const char *kind; void *context; } pieces[MOST];
/* The devices' primary contexts, which are known by their addresses. */
static char contexts[DEVICES];
static __thread struct { void *stack[DEEP]; int deep; } own;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void hold(void) { pthread_mutex_lock(&lock); }
static void let_go(void) { pthread_mutex_unlock(&lock); }
__attribute__((constructor)) static void begin(void) { pthread_atfork(hold, let_go, let_go); }

static void *current(void) { return own.deep ? own.stack[own.deep - 1] : NULL; }
static size_t number(void *context) { return (size_t)((char *)context - contexts); }

static void say(const char *call, size_t number, const char *kind) {
    const char *path = getenv("STAND_IN_LOG");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (!log) return;
    fprintf(log, "%s %zu%s%s\n", call, number, *kind ? " " : "", kind);
    fclose(log);
}

/* The kind of what lies there; that of the program itself has none. */
static const char *kind_of(const void *address) {
    const char *kind = "", *at = address;
    hold();
    for (int each = 0; each < MOST; each++)
        if (pieces[each].at && at >= pieces[each].at && at < pieces[each].at + pieces[each].size) kind = pieces[each].kind;
    let_go();
    return kind;
}
static int is(const void *address, const char *kind) { return !strcmp(kind_of(address), kind); }
static int on_device(uint64_t address) { return is((void *)address, "device") || is((void *)address, "managed"); }
static int on_host(const void *address) { return !is(address, "device"); }

/* Only memory that both sides see has pages that the clock knows. */
static void *make(size_t room, const char *kind) {
    if (!unified_on() || !strcmp(kind, "device")) return malloc(room);
    return unified_make(room, strcmp(kind, "managed") ? PINNED : MANAGED);
}

static int take(void **out, size_t size, const char *kind) {
    const char *limit = getenv("STAND_IN_LIMIT"), *refused = getenv("STAND_IN_REFUSED");
    if ((limit && size > strtoull(limit, NULL, 10)) || (refused && !strcmp(refused, kind))) return OUT_OF_MEMORY;
    if (!current()) return NO_CONTEXT;
    size_t room = size ? size : 1;
    int place = 0;
    hold();
    while (place < MOST && !(pieces[place].at && !strcmp(pieces[place].kind, "gone") && pieces[place].size == room)) place++;
    char *made = place < MOST ? pieces[place].at : make(room, kind);
    if (place == MOST)
        for (place = 0; place < MOST && pieces[place].at;) place++;
    if (made && place < MOST)
        pieces[place].at = made, pieces[place].size = room, pieces[place].kind = kind, pieces[place].context = current();
    let_go();
    if (!made || place == MOST) return free(made), OUT_OF_MEMORY;
    say("made", size, kind);
    unified_call(!strcmp(kind, "device") ? DEVICE_TIME : !strcmp(kind, "pinned") ? PINNED_TIME + PINNED_PAGE * (double)(size / 4096) : CALL_TIME);
    *out = made;
    return OK;
}

/* Frees what begins there, of one of two kinds. */
static int drop(void *pointer, const char *kind, const char *other) {
    char *found = NULL;
    if (!current()) return NO_CONTEXT;
    if (!pointer) return OK;
    hold();
    for (int each = 0; each < MOST && !found; each++)
        if (pieces[each].at == pointer && (!strcmp(pieces[each].kind, kind) || !strcmp(pieces[each].kind, other)))
            found = pieces[each].at, pieces[each].at = NULL;
    let_go();
    if (!found) return say("refused to free", 0, kind), INVALID;
    say("freed", 0, kind);
    unified_call(CALL_TIME);
    if (!unified_drop(found)) free(found);
    return OK;
}

static int copy(void *to, const void *from, size_t size, int allowed) {
    if (!current()) return NO_CONTEXT;
    if (!allowed) return say("refused to copy", size, ""), INVALID;
    unified_copy(size, is(to, "pinned") || is(from, "pinned"));
    memmove(unified_inside(to), unified_inside(from), size);
    return OK;
}

int cuMemAlloc_v2(uint64_t *out, size_t size) { return take((void **)out, size, "device"); }
int cuMemAllocManaged(uint64_t *out, size_t size, unsigned flags) {
    return flags ? take((void **)out, size, "managed") : INVALID;
}
int cuMemAllocHost_v2(void **out, size_t size) { return take(out, size, "pinned"); }
int cuMemFree_v2(uint64_t pointer) { return drop((void *)pointer, "device", "managed"); }
int cuMemFreeHost(void *pointer) { return drop(pointer, "pinned", "pinned"); }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
    return copy((void *)to, from, size, on_device(to) && on_host(from));
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
    return copy(to, (void *)from, size, on_host(to) && on_device(from));
}
int cuMemcpy(uint64_t to, uint64_t from, size_t size) {
    return copy((void *)to, (void *)from, size, !is((void *)to, "gone") && !is((void *)from, "gone"));
}
/* Of attributes, the kind of memory (2), 1 of the host or 2 of the device, and whether it is managed (8). */
int cuPointerGetAttribute(unsigned *value, int attribute, uint64_t pointer) {
    const char *kind = kind_of((void *)pointer);
    if ((attribute != 2 && attribute != 8) || !*kind || !strcmp(kind, "gone")) return INVALID;
    *value = attribute == 8 ? !strcmp(kind, "managed") : strcmp(kind, "pinned") ? 2 : 1;
    return OK;
}
int cuCtxGetCurrent(void **context) { return *context = current(), OK; }
int cuCtxSetCurrent(void *context) { return own.deep = 1, own.stack[0] = context, OK; }
int cuCtxPushCurrent_v2(void *context) {
    if (own.deep == DEEP) return INVALID;
    return own.stack[own.deep++] = context, OK;
}
int cuCtxPopCurrent_v2(void **context) {
    if (!current()) return NO_CONTEXT;
    return *context = own.stack[--own.deep], OK;
}
int cuCtxGetDevice(int *device) { return current() ? *device = (int)number(current()), OK : NO_CONTEXT; }
int cuCtxSynchronize(void) {
    static int asked;
    if (!current()) return NO_CONTEXT;
    if (getenv("STAND_IN_BUSY") && !asked++) return BUSY;
    unified_wait(NULL, 1);
    return say("waited", number(current()), ""), OK;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
    return device < DEVICES ? *context = &contexts[device], OK : INVALID;
}
/* All that was allocated in the context is gone. */
static int lose(int device) {
    hold();
    for (int each = 0; each < MOST; each++)
        if (pieces[each].at && pieces[each].context == &contexts[device]) pieces[each].kind = "gone";
    let_go();
    return OK;
}
int cuDevicePrimaryCtxReset_v2(int device) { return lose(device); }
/* The last user lets go of it. It has no hook. */
int cuDevicePrimaryCtxRelease_v2(int device) { return lose(device); }
int cuMemAdvise(uint64_t pointer, size_t size, int advice, int device) {
    if (!is((void *)pointer, "managed")) return INVALID;
    (void)size;
    unified_advise((void *)pointer, advice, device);
    return say("advised", (size_t)advice, ""), OK;
}
int cuMemPrefetchAsync(uint64_t pointer, size_t size, int device, void *stream) {
    if (!is((void *)pointer, "managed")) return INVALID;
    unified_prefetch((void *)pointer, size, device < 0 ? TO_HOST : TO_DEVICE, stream);
    return say(device < 0 ? "prefetched back" : "prefetched", size, ""), OK;
}
/* As of CUDA 12.2: a place is a sort (1: a device, 2: the host) and a number. */
int cuMemPrefetchAsync_v2(uint64_t pointer, size_t size, uint64_t place, unsigned flags, void *stream) {
    return flags ? INVALID : cuMemPrefetchAsync(pointer, size, (uint32_t)place == 1 ? (int)(place >> 32) : -1, stream);
}
int cuMemAdvise_v2(uint64_t pointer, size_t size, int advice, uint64_t place) {
    return cuMemAdvise(pointer, size, advice, (uint32_t)place == 1 ? (int)(place >> 32) : -1);
}
/* As of CUDA 13: none of these takes the default stream. */
int cuMemPrefetchBatchAsync(uint64_t *pointers, size_t *sizes, size_t count, uint64_t *places, size_t *begins, size_t of,
                            uint64_t flags, void *stream) {
    if (flags || !stream || of != 1 || begins[0]) return INVALID;
    say("batch", count, "");
    for (size_t each = 0; each < count; each++)
        if (cuMemPrefetchAsync_v2(pointers[each], sizes[each], places[0], 0, stream)) return INVALID;
    return OK;
}
int cuMemDiscardBatchAsync(uint64_t *pointers, size_t *sizes, size_t count, uint64_t flags, void *stream) {
    if (flags || !stream) return INVALID;
    for (size_t each = 0; each < count; each++) {
        if (!is((void *)pointers[each], "managed")) return INVALID;
        unified_discard((void *)pointers[each], sizes[each], stream);
        say("discarded", sizes[each], "");
    }
    return OK;
}
int cuMemHostGetDevicePointer_v2(uint64_t *out, void *pointer, unsigned flags) {
    if (flags || !is(pointer, "pinned")) return INVALID;
    return *out = (uint64_t)pointer, OK;
}
int cuMemsetD32_v2(uint64_t pointer, unsigned value, size_t count) {
    unified_fill((void *)pointer, count * 4, NULL);
    unsigned *words = unified_inside((void *)pointer);
    for (size_t word = 0; word < count; word++) words[word] = value;
    return 0;
}
int cuMemsetD8_v2(uint64_t pointer, unsigned char value, size_t count) {
    unified_fill((void *)pointer, count, NULL);
    return memset(unified_inside((void *)pointer), value, count), OK;
}

int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t count, void *stream) {
    unified_fill((void *)pointer, count, stream);
    return memset(unified_inside((void *)pointer), value, count), OK;
}

/* What programs say of their kernels, as compilers do: name, and the bytes of each parameter. */
static struct { void *kernel; const char *name; int count; const size_t *sizes; } kernels[MOST];
void stand_in_kernel(void *kernel, const char *name, int count, const size_t *sizes) {
    int each = 0;
    while (kernels[each].kernel) each++;
    kernels[each].kernel = kernel, kernels[each].name = name, kernels[each].count = count, kernels[each].sizes = sizes;
}
static int known(const void *kernel) {
    for (int each = 0; each < MOST && kernels[each].kernel; each++)
        if (kernels[each].kernel == kernel) return each;
    return -1;
}
/* As of CUDA 12.4, so not with STAND_IN_OLD; each parameter is aligned to its size, to 8 bytes at most. */
int cuFuncGetParamInfo(void *kernel, size_t which, size_t *offset, size_t *size) {
    int found = known(kernel);
    if (found < 0 || getenv("STAND_IN_OLD")) return UNSUPPORTED;
    if ((int)which >= kernels[found].count) return INVALID;
    size_t at = 0;
    for (size_t each = 0; each <= which; each++) {
        size_t bytes = kernels[found].sizes[each], align = bytes % 8 ? 4 : 8;
        *offset = at = (at + align - 1) / align * align, *size = bytes;
        at += bytes;
    }
    return OK;
}
int cuFuncGetName(const char **name, void *kernel) {
    int found = known(kernel);
    return found < 0 || getenv("STAND_IN_OLD") ? INVALID : (*name = kernels[found].name, OK);
}
const char *stand_in_name(const void *kernel) {
    int found = known(kernel);
    return found < 0 ? NULL : kernels[found].name;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
    (void)module;
    for (int each = 0; each < MOST && kernels[each].kernel; each++)
        if (!strcmp(kernels[each].name, name)) return *function = kernels[each].kernel, OK;
    return INVALID;
}
int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **values, void **extra) {
    (void)shared, (void)extra;
    if (!(gx && gy && gz && bx && by && bz)) return 1;
    if (unified_on()) unified_begin();
    ((void (*)(void **))kernel)(values);
    if (unified_on()) unified_end(stream);
    return 0;
}

/* Streams are only names with a flag; an event is when its stream is done with what it has. */
int cuStreamCreate(unsigned **stream, unsigned flags) { return *stream = malloc(sizeof flags), **stream = flags, OK; }
int cuStreamDestroy_v2(void *stream) { return free(stream), OK; }
int cuStreamSynchronize(void *stream) {
    void *legacy = (void *)1; /* the default stream's other name */
    return unified_wait(stream == legacy ? NULL : stream, 0), OK;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
    static __thread int own;
    int old = own;
    return own = *mode, *mode = old, OK;
}
int cuStreamIsCapturing(void *stream, int *status) { return (void)stream, *status = getenv("STAND_IN_CAPTURES") ? 1 : 0, OK; }
int cuEventCreate(double **event, unsigned flags) { return (void)flags, *event = calloc(1, sizeof(double)), OK; }
int cuEventDestroy_v2(double *event) { return free(event), OK; }
int cuEventRecord(double *event, void *stream) { return *event = unified_reached(stream), OK; }
int cuEventQuery(double *event) { return unified_over(*event) ? OK : BUSY; }
int cuEventSynchronize(double *event) { return (void)event, unified_wait(NULL, 1), OK; }
int cuEventElapsedTime(float *ms, double *from, double *to) { return *ms = (float)((*to - *from) / 1e6), OK; }
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *found) {
    char name[64];
    (void)flags;
    void *self = dlopen("libcuda.so.1", RTLD_LAZY);
    snprintf(name, sizeof name, "%s_v2", symbol);
    /* Not by dlsym, whose hook would be found, but as a driver does that knows its own functions. */
    int renewed = !strcmp(symbol, "cuMemPrefetchAsync") || !strcmp(symbol, "cuMemAdvise");
    *function = renewed && version < 12020 ? NULL : dlvsym(self, name, "STAND_IN");
    if (!*function) *function = dlvsym(self, symbol, "STAND_IN");
    if (found) *found = *function ? 0 : 1;
    return *function ? 0 : 500;
}
