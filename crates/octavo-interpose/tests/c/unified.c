/* How a page is seen to be touched: the program's view of managed memory is emptied of pages that lie elsewhere, so that
 * what is present in it again at the next call was touched; the content stays in a file of memory. Host code runs between
 * two calls and kernels within a launch, so each touch has its processor. Linux maps up to
 * 64 KiB around a page that is read, so all of these count as touched. */
#define _GNU_SOURCE
#include "unified.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ns, as measured on an H100 (PCIe, driver 580) in November 2026 (machines/h100.toml): pages of 4 KiB, and what the
 * first of them takes in a block of 2 MiB; calls that only cost the host are chosen. */
static const double LAUNCH = 3500, LAUNCH_CALL = 2000, CALL = 1000, PREFETCH_CALL = 5000, COPY_CALL = 7000;
static const double FAULT = 26000;                            /* of the GPU; six bring 2 MiB at 10.5 GB/s */
static const double MADE = 18000;                             /* of the GPU, first touch; six make 2 MiB at 17.7 GB/s */
static const double BACK_BLOCK = 20000, BACK = 500;           /* the host reads it back: 64 MiB in 8.9 ms */
static const double FIRST = 1000;                             /* first touch by the host: 4.1 GB/s */
static const double MOVE = 35000, MOVED = 90, POPULATED = 20; /* prefetched: 46.9 GB/s, and 42 us a call */
static const double RETURN = 13000, RETURNED = 229;           /* prefetched to the host: 17.9 GB/s, and 18 us a call */
static const double EVICT = 13000, EVICTED = 229;             /* the driver makes room: taken to be as a prefetch to the host */
static const double COPIED = 280, COPIED_PINNED = 77;         /* 14.7 and 53 GB/s */
static const double LINES = 81, INSIDE = 2;                   /* pinned 50.6 GB/s, device 2 TB/s */
static const double ROUND_TRIP = 2684;                        /* of the first line that a launch takes from the host; STAND_IN_FAR times as much */
static const double STORED = 280;                             /* the host copies a page itself: as one of ordinary memory */

enum { PAGE = 4096, GROUP = 16, BLOCK = 512, MOST = 1024, STREAMS = 64 };
enum place { NOWHERE, HOST, DEVICE, BOTH };

struct piece {
    char *view, *inside; /* the program's, and the driver's own */
    size_t size, pages;
    enum kind kind;
    int read_mostly, prefers_host, reached; /* reached: the device maps what lies on the host */
    unsigned long used; /* the last launch that touched it */
    unsigned char *place;
    uint64_t *hash; /* of pages that are in both places */
};
static struct piece pieces[MOST];
static struct { void *stream; int apart; double busy; } streams[STREAMS];
static struct { unsigned long gpu_faults, host_faults, made, prefetched, discarded, launches, evicted; } count;
static double host, spent;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A child must not wait for a lock that another thread of its parent held. */
static void hold(void) { pthread_mutex_lock(&lock); }
static void let_go(void) { pthread_mutex_unlock(&lock); }
__attribute__((constructor)) static void begin(void) { pthread_atfork(hold, let_go, let_go); }

int unified_on(void) { return getenv("STAND_IN_CLOCK") != NULL; }

static struct piece *at(const void *pointer) {
    const char *address = pointer;
    for (struct piece *each = pieces; each < pieces + MOST; each++)
        if (each->view && address >= each->view && address < each->view + each->size) return each;
    return NULL;
}

/* FNV-1a, by words. */
static uint64_t hash(const char *page) {
    uint64_t sum = 14695981039346656037u;
    for (size_t word = 0; word < PAGE / 8; word++) sum = (sum ^ ((const uint64_t *)(const void *)page)[word]) * 1099511628211u;
    return sum;
}

/* Which pages of the view are there: a byte each, to be freed. */
static unsigned char *present(const struct piece *piece) {
    static int file = -1;
    if (file < 0) file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t *entries = calloc(piece->pages, 8);
    unsigned char *found = calloc(piece->pages, 1);
    if (!entries || !found || pread(file, entries, piece->pages * 8, (off_t)((uintptr_t)piece->view / PAGE * 8)) < 0) abort();
    for (size_t page = 0; page < piece->pages; page++)
        if (entries[page] >> 63) memset(found + page / GROUP * GROUP, 1, GROUP);
    return free(entries), found;
}

/* Whether the device reaches it where it lies, on the host. */
static int stays(const struct piece *piece) { return piece->kind == MANAGED && piece->prefers_host && piece->reached; }

/* Only what lies on the host is present in the view; of what stays there nothing, so that touches of the host are seen. */
static int shown(const struct piece *piece, size_t page) {
    return !stays(piece) && (piece->place[page] == HOST || piece->place[page] == BOTH);
}
static void show(struct piece *piece) {
    madvise(piece->view, piece->pages * PAGE, MADV_DONTNEED);
    for (size_t page = 0, end; page < piece->pages; page = end) {
        int here = shown(piece, page);
        for (end = page; end < piece->pages && here == shown(piece, end);) end++;
        if (here) madvise(piece->view + page * PAGE, (end - page) * PAGE, MADV_POPULATE_READ);
    }
}

static void show_all(void) {
    for (struct piece *each = pieces; each < pieces + MOST; each++)
        if (each->view && each->kind == MANAGED) show(each);
}

static void duplicate(struct piece *piece, size_t page) {
    piece->place[page] = BOTH, piece->hash[page] = hash(piece->inside + page * PAGE);
}

static size_t on_device(const struct piece *piece, size_t from, size_t to) {
    size_t pages = 0;
    for (size_t page = from; page < to && page < piece->pages; page++) pages += piece->place[page] >= DEVICE;
    return pages;
}
/* The first block of a piece that has pages on the device; past its end if none has. */
static size_t first_block(const struct piece *piece) {
    size_t begin = 0;
    while (begin < piece->pages && !on_device(piece, begin, begin + BLOCK)) begin += BLOCK;
    return begin;
}
/* Blocks of what was used least recently leave until the device's memory holds the rest; what makes room stays, if it
 * can. The ns that this takes. */
static double make_room(struct piece *keep) {
    const char *limit = getenv("STAND_IN_MEMORY");
    size_t room = limit ? strtoul(limit, NULL, 10) / PAGE : 0, held = 0;
    for (struct piece *each = pieces; room && each < pieces + MOST; each++)
        if (each->view && each->kind == MANAGED) held += on_device(each, 0, each->pages);
    double ns = 0;
    while (room && held > room) {
        struct piece *oldest = keep;
        for (struct piece *each = pieces; each < pieces + MOST; each++)
            if (each->view && each != keep && each->kind == MANAGED && first_block(each) < each->pages &&
                (oldest == keep || each->used < oldest->used)) oldest = each;
        size_t begin = first_block(oldest);
        for (size_t page = begin; page < begin + BLOCK && page < oldest->pages; page++) {
            if (oldest->place[page] < DEVICE) continue;
            ns += oldest->place[page] == BOTH ? 0 : EVICTED;
            oldest->place[page] = HOST, held--, count.evicted++;
        }
        ns += EVICT;
    }
    return ns;
}

/* The GPU's fault on a page: as the driver's tree has it, the largest part of the block comes of which more than 51 in
 * 100 pages are there or come. */
static double fault(struct piece *piece, size_t page) {
    size_t first = page / GROUP * GROUP, pages = GROUP;
    int made = piece->place[page] == NOWHERE;
    for (size_t part = GROUP * 2; part <= BLOCK; part *= 2) {
        size_t begin = page / part * part, there = GROUP;
        for (size_t each = begin; each < begin + part && each < piece->pages; each++)
            there += (each < page / GROUP * GROUP || each >= page / GROUP * GROUP + GROUP) && piece->place[each] >= DEVICE;
        if (there * 100 > part * 51) first = begin, pages = part;
    }
    double ns = made ? MADE : FAULT;
    (made ? &count.made : &count.gpu_faults)[0]++;
    for (size_t each = first; each < first + pages && each < piece->pages; each++) {
        if (piece->place[each] >= DEVICE) continue;
        ns += piece->place[each] == HOST ? MOVED : POPULATED;
        if (piece->place[each] == HOST && piece->read_mostly) duplicate(piece, each);
        else piece->place[each] = DEVICE;
    }
    return ns + make_room(piece);
}

/* A processor touched a page of what stays on the host; padding is not charged. */
static double touch_there(struct piece *piece, size_t page, enum way who) {
    if (page * PAGE >= piece->size) return 0;
    if (piece->place[page] == NOWHERE) return piece->place[page] = HOST, who == TO_HOST ? FIRST : MADE;
    return who == TO_HOST ? STORED : LINES;
}
/* A processor touched a page: the ns that this took; `block` is the last block with a fault of the host's. */
static double touch(struct piece *piece, size_t page, enum way who, long *block) {
    unsigned char *place = &piece->place[page];
    if (stays(piece) && (*place == NOWHERE || *place == HOST)) return touch_there(piece, page, who);
    if (*place == (who == TO_HOST ? HOST : DEVICE)) return 0;
    if (*place == BOTH) {
        if (piece->hash[page] == hash(piece->inside + page * PAGE)) return 0;
        return *place = who == TO_HOST ? HOST : DEVICE, BACK_BLOCK; /* written: the other copy goes */
    }
    if (who == TO_DEVICE) return fault(piece, page);
    if (*place == NOWHERE) return *place = HOST, FIRST;
    int same = *block == (long)(page / BLOCK);
    *block = (long)(page / BLOCK), count.host_faults++;
    if (piece->read_mostly) duplicate(piece, page);
    else *place = HOST;
    return same ? BACK : BACK_BLOCK + BACK;
}

/* What the host did since the last call. */
static void settle(void) {
    for (struct piece *each = pieces; each < pieces + MOST; each++) {
        if (!each->view || each->kind != MANAGED) continue;
        unsigned char *there = present(each);
        long block = -1;
        for (size_t page = 0; page < each->pages; page++)
            if (there[page]) host += touch(each, page, TO_HOST, &block);
        free(there);
        if (stays(each)) show(each);
    }
}

/* Whether the default stream does not wait for it: its flag says so. The default stream has no flags. */
static int is_apart(const void *stream) { return stream && *(const unsigned *)stream & 1; }
static double *busy(void *stream) {
    int each = 0;
    while (each < STREAMS - 1 && streams[each].busy > 0 && streams[each].stream != stream) each++;
    streams[each].stream = stream, streams[each].apart = is_apart(stream);
    return &streams[each].busy;
}
/* The default stream waits for all others that are not apart, and they for it. */
static int waits(void *stream, int other) {
    void *before = streams[other].stream;
    return before == stream || ((!stream || !before) && !is_apart(stream) && !streams[other].apart);
}
static double free_from(void *stream) {
    double until = host;
    for (int each = 0; each < STREAMS; each++)
        if (waits(stream, each) && streams[each].busy > until) until = streams[each].busy;
    return until;
}
/* When all streams are done. */
static double done(void) {
    double until = host;
    for (int each = 0; each < STREAMS; each++)
        if (streams[each].busy > until) until = streams[each].busy;
    return until;
}
static void work(void *stream, double ns) {
    double from = free_from(stream);
    *busy(stream) = from + ns;
}

void *unified_make(size_t size, enum kind kind) {
    size_t whole = BLOCK * PAGE, pages = (size / PAGE + GROUP) / GROUP * GROUP;
    int file = memfd_create("stand-in", MFD_CLOEXEC);
    struct piece made = {.size = size, .pages = pages, .kind = kind};
    if (file < 0 || ftruncate(file, (off_t)(made.pages * PAGE))) abort();
    char *room = mmap(NULL, pages * PAGE + whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) abort();
    made.view = room + (whole - (uintptr_t)room % whole);
    made.view = mmap(made.view, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    made.inside = mmap(NULL, made.pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    made.place = calloc(made.pages, 1), made.hash = calloc(made.pages, 8);
    if (made.view == MAP_FAILED || made.inside == MAP_FAILED || !made.place || !made.hash) abort();
    pthread_mutex_lock(&lock);
    for (struct piece *each = pieces; each < pieces + MOST; each++)
        if (!each->view) {
            *each = made;
            pthread_mutex_unlock(&lock);
            return made.view;
        }
    abort();
}

int unified_drop(void *pointer) {
    pthread_mutex_lock(&lock);
    struct piece *piece = at(pointer);
    int found = piece && piece->view == pointer;
    if (found) {
        settle();
        munmap(piece->view, piece->pages * PAGE), munmap(piece->inside, piece->pages * PAGE);
        free(piece->place), free(piece->hash);
        piece->view = NULL;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void *unified_inside(const void *pointer) {
    pthread_mutex_lock(&lock);
    struct piece *piece = at(pointer);
    void *inside = piece ? piece->inside + ((const char *)pointer - piece->view) : (void *)pointer;
    pthread_mutex_unlock(&lock);
    return inside;
}

void unified_call(double ns) {
    pthread_mutex_lock(&lock);
    host += ns;
    pthread_mutex_unlock(&lock);
}

void unified_begin(void) {
    pthread_mutex_lock(&lock);
    settle();
    spent = 0, count.launches++;
    for (struct piece *each = pieces; each < pieces + MOST; each++)
        if (each->view) madvise(each->view, each->pages * PAGE, MADV_DONTNEED);
    pthread_mutex_unlock(&lock);
}

/* What the device takes for the pages that it touches. */
static double touched(struct piece *piece, const unsigned char *there) {
    double ns = 0;
    long block = -1;
    for (size_t page = 0; page < piece->pages; page++)
        if (there[page]) ns += piece->kind == PINNED ? LINES : INSIDE + touch(piece, page, TO_DEVICE, &block);
    return ns;
}

void unified_end(void *stream) {
    pthread_mutex_lock(&lock);
    double ns = LAUNCH + spent, far = 0;
    const char *times = getenv("STAND_IN_FAR");
    for (struct piece *each = pieces; each < pieces + MOST; each++) {
        if (!each->view) continue;
        unsigned char *there = present(each);
        for (size_t page = 0; page < each->pages; page++)
            if (there[page]) each->used = count.launches;
        double took = touched(each, there);
        if (took > 0 && (each->kind == PINNED || stays(each))) far = ROUND_TRIP * (times ? strtod(times, NULL) : 1);
        ns += took;
        free(there);
    }
    show_all();
    host += LAUNCH_CALL;
    work(stream, ns + far);
    pthread_mutex_unlock(&lock);
}

void stand_in_spend(double ns) { spent += ns; }

static void range(struct piece *piece, const void *pointer, size_t size, size_t *from, size_t *to) {
    size_t offset = (size_t)((const char *)pointer - piece->view);
    *from = offset / PAGE, *to = (offset + size + PAGE - 1) / PAGE;
    if (*to > piece->pages) *to = piece->pages;
}

void unified_fill(void *pointer, size_t size, void *stream) {
    pthread_mutex_lock(&lock);
    struct piece *piece = at(pointer);
    double ns = LAUNCH;
    settle();
    if (piece && piece->kind == MANAGED) {
        size_t page, to;
        long block = -1;
        for (range(piece, pointer, size, &page, &to); page < to; page++) ns += INSIDE + touch(piece, page, TO_DEVICE, &block);
        show(piece);
    }
    host += LAUNCH_CALL;
    work(stream, ns);
    pthread_mutex_unlock(&lock);
}

void unified_copy(size_t size, int host_pinned) {
    pthread_mutex_lock(&lock);
    settle();
    double from = free_from(NULL);
    host = from + COPY_CALL + (double)((size + PAGE - 1) / PAGE) * (host_pinned ? COPIED_PINNED : COPIED);
    pthread_mutex_unlock(&lock);
}

void unified_prefetch(void *pointer, size_t size, enum way way, void *stream) {
    pthread_mutex_lock(&lock);
    settle();
    struct piece *piece = at(pointer);
    double ns = way == TO_HOST ? RETURN : MOVE;
    size_t page = 0, to = 0;
    if (piece) range(piece, pointer, size, &page, &to);
    for (enum place there = way == TO_HOST ? HOST : DEVICE; page < to; page++) {
        unsigned char *place = &piece->place[page];
        if (*place == there || *place == BOTH || (*place == NOWHERE && way == TO_HOST)) continue;
        ns += *place == NOWHERE ? POPULATED : way == TO_HOST ? RETURNED : MOVED;
        count.prefetched++;
        if (*place != NOWHERE && piece->read_mostly) duplicate(piece, page);
        else *place = there;
    }
    if (piece && way == TO_DEVICE) piece->used = count.launches + 1, ns += make_room(piece);
    show_all();
    host += PREFETCH_CALL;
    work(stream, ns);
    pthread_mutex_unlock(&lock);
}

/* The content is gone: what reads it finds out. */
void unified_discard(void *pointer, size_t size, void *stream) {
    pthread_mutex_lock(&lock);
    settle();
    struct piece *piece = at(pointer);
    if (piece) {
        size_t page, to;
        memset(piece->inside + ((char *)pointer - piece->view), 0xDB, size);
        for (range(piece, pointer, size, &page, &to); page < to; page++) piece->place[page] = NOWHERE, count.discarded++;
        show(piece);
    }
    host += PREFETCH_CALL;
    work(stream, CALL);
    pthread_mutex_unlock(&lock);
}

void unified_advise(void *pointer, int advice, int device) {
    pthread_mutex_lock(&lock);
    settle();
    struct piece *piece = at(pointer);
    if (piece && (advice == 1 || advice == 2)) piece->read_mostly = advice == 1;
    if (piece && advice == 3) piece->prefers_host = device < 0;
    if (piece && advice == 5) piece->reached = 1;
    host += CALL;
    pthread_mutex_unlock(&lock);
}

void unified_wait(void *stream, int all) {
    pthread_mutex_lock(&lock);
    settle();
    double until = all ? done() : free_from(stream);
    host = (until > host ? until : host) + CALL;
    pthread_mutex_unlock(&lock);
}

double unified_reached(void *stream) {
    pthread_mutex_lock(&lock);
    settle();
    host += CALL / 2;
    double until = free_from(stream);
    pthread_mutex_unlock(&lock);
    return until;
}

int unified_over(double ns) { return ns <= host; }

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("STAND_IN_CLOCK");
    FILE *file = path && count.launches ? fopen(path, "w") : NULL;
    if (!file) return;
    settle();
    fprintf(file, "{\"ns\": %.0f, \"launches\": %lu, \"gpu_faults\": %lu, \"host_faults\": %lu, \"made\": %lu, ", done(),
            count.launches, count.gpu_faults, count.host_faults, count.made);
    fprintf(file, "\"prefetched\": %lu, \"discarded\": %lu, \"evicted\": %lu}\n", count.prefetched, count.discarded, count.evicted);
    fclose(file);
}
