/* A driver that stands in for libcuda: its memory is the host's, but it knows what kind each piece is of, and refuses
 * what the kind does not allow. Allocations above STAND_IN_LIMIT bytes fail, and all of the kind that STAND_IN_REFUSED
 * names; with STAND_IN_BUSY, the first wait for a context fails. Every thread needs a context of its own choice. What it
 * is told goes to the file that STAND_IN_LOG names, a line a call. */
#define _GNU_SOURCE
#include "stand_in.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 1, OUT_OF_MEMORY = 2, NO_CONTEXT = 201, BUSY = 600, MOST = 4096, DEVICES = 2, DEEP = 4 };

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

static int take(void **out, size_t size, const char *kind) {
    const char *limit = getenv("STAND_IN_LIMIT"), *refused = getenv("STAND_IN_REFUSED");
    if ((limit && size > strtoull(limit, NULL, 10)) || (refused && !strcmp(refused, kind))) return OUT_OF_MEMORY;
    if (!current()) return NO_CONTEXT;
    size_t room = size ? size : 1;
    int place = 0;
    hold();
    while (place < MOST && !(pieces[place].at && !strcmp(pieces[place].kind, "gone") && pieces[place].size == room)) place++;
    char *made = place < MOST ? pieces[place].at : malloc(room);
    if (place == MOST)
        for (place = 0; place < MOST && pieces[place].at;) place++;
    if (made && place < MOST)
        pieces[place].at = made, pieces[place].size = room, pieces[place].kind = kind, pieces[place].context = current();
    let_go();
    if (!made || place == MOST) return free(made), OUT_OF_MEMORY;
    say("made", size, kind);
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
    return free(found), OK;
}

static int copy(void *to, const void *from, size_t size, int allowed) {
    if (!current()) return NO_CONTEXT;
    if (!allowed) return say("refused to copy", size, ""), INVALID;
    memmove(to, from, size);
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
int cuMemcpy(uint64_t to, uint64_t from, size_t size) { return copy((void *)to, (void *)from, size, 1); }
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
    (void)size, (void)device;
    if (!is((void *)pointer, "managed")) return INVALID;
    return say("advised", (size_t)advice, ""), OK;
}
int cuMemPrefetchAsync(uint64_t pointer, size_t size, int device, void *stream) {
    (void)device, (void)stream;
    if (!is((void *)pointer, "managed")) return INVALID;
    return say("prefetched", size, ""), OK;
}
int cuMemHostGetDevicePointer_v2(uint64_t *out, void *pointer, unsigned flags) {
    if (flags || !is(pointer, "pinned")) return INVALID;
    return *out = (uint64_t)pointer, OK;
}
int cuMemsetD32_v2(uint64_t pointer, unsigned value, size_t count) {
    for (size_t word = 0; word < count; word++) ((unsigned *)pointer)[word] = value;
    return 0;
}
int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **values, void **extra) {
    (void)shared, (void)stream, (void)extra;
    if (!(gx && gy && gz && bx && by && bz)) return 1;
    ((void (*)(void **))kernel)(values);
    return 0;
}
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *found) {
    char name[64];
    (void)flags, (void)version;
    void *self = dlopen("libcuda.so.1", RTLD_LAZY);
    snprintf(name, sizeof name, "%s_v2", symbol);
    /* Not by dlsym, whose hook would be found, but as a driver does that knows its own functions. */
    *function = dlvsym(self, name, "STAND_IN");
    if (!*function) *function = dlvsym(self, symbol, "STAND_IN");
    if (found) *found = *function ? 0 : 1;
    return *function ? 0 : 500;
}
