// Touches of memory that moves. What a page holds is the number of the page, with a stamp above it, in its first eight
// bytes; the highest bit is never set, which the compiler does not know: a thread that looks at it has to wait for it.

static const u64 PAGE = 4096;

// Writes every page's first word, as many at once as there are threads.
extern "C" __global__ void mark_pages(u8 *memory, u64 pages, u64 stamp)
{
    for (u64 page = thread_index(); page < pages; page += thread_count())
        *(volatile u64 *)(memory + page * PAGE) = stamp + page;
}

// Reads pages in the order of a table, thread by thread in turn. A thread learns its next page from the word of the
// last one, so that it has one fault in flight.
extern "C" __global__ void touch_pages(const u8 *memory, const u32 *order, u64 count, u64 *sums)
{
    u64 sum = 0;
    for (u64 at = thread_index(); at < count;) {
        u64 word = *(const volatile u64 *)(memory + order[at] * PAGE);
        sum += word;
        at += thread_count() + (word >> 63);
    }
    sums[thread_index()] = sum;
}

// One thread reads pages in the order of a table and leaves each page's word and the cycles it waited for it. The clock
// is read only after a branch on what was waited for. `clocks` gets cycles and nanoseconds, before and after.
extern "C" __global__ void time_pages(const u8 *memory, const u32 *order, u64 count, u64 *words, u64 *waited,
                                      u64 *clocks)
{
    clocks[0] = cycles();
    clocks[1] = nanoseconds();
    for (u64 at = 0; at < count; at++) {
        u32 page = *(const volatile u32 *)(order + at);
        if (page >> 31) return;
        u64 begin = cycles();
        u64 word = *(const volatile u64 *)(memory + page * PAGE);
        if (word >> 63) return;
        u64 end = cycles();
        words[at] = word;
        waited[at] = end - begin;
    }
    clocks[2] = cycles();
    clocks[3] = nanoseconds();
}

// Reads everything, neighbours by neighbouring threads.
extern "C" __global__ void read_words(const u64 *memory, u64 count, u64 *sums)
{
    u64 sum = 0;
    for (u64 at = thread_index(); at < count; at += thread_count()) sum += memory[at];
    sums[thread_index()] = sum;
}

// Writes everything, neighbours by neighbouring threads.
extern "C" __global__ void write_words(u64 *memory, u64 count, u64 word)
{
    for (u64 at = thread_index(); at < count; at += thread_count()) memory[at] = word;
}
