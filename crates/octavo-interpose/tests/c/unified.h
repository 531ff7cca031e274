/* Unified memory that stands in for the driver's: pages that lie somewhere, faults that move them, and a clock that says
 * what all of it would have taken. Nothing here reads the real time. It works where STAND_IN_CLOCK names the file that
 * the clock is written to. */
#ifndef UNIFIED_H
#define UNIFIED_H
#include <stddef.h>
#include <stdint.h>

enum kind { MANAGED, PINNED };
enum way { TO_HOST, TO_DEVICE };

int unified_on(void);
/* Memory that both sides see, NULL if there is none; its end, 0 if nothing begins there. */
void *unified_make(size_t size, enum kind kind);
int unified_drop(void *pointer);
/* Where the driver itself reads and writes what lies there, which no page notices; the address itself of other memory. */
void *unified_inside(const void *pointer);

/* The host's time: a call takes so many ns. */
void unified_call(double ns);
/* Before a launch, and after it: what the kernel touched. */
void unified_begin(void);
void unified_end(void *stream);
/* What a kernel takes besides its pages, told by it, ns. */
void stand_in_spend(double ns);
void unified_fill(void *pointer, size_t size, void *stream);
void unified_copy(size_t size, int host_pinned);
void unified_prefetch(void *pointer, size_t size, enum way way, void *stream);
void unified_discard(void *pointer, size_t size, void *stream);
/* An advice by its number. */
void unified_advise(void *pointer, int advice, int device);
void unified_wait(void *stream, int all);
/* When the stream is done with what it has, ns; whether that is over for the host. */
double unified_reached(void *stream);
int unified_over(double ns);
#endif
