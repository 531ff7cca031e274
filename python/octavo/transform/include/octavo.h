/* Where to allocate a data structure that a GPU uses: device memory, managed memory or pinned memory of the host.
 *
 * The answer is that of the model behind `octavo advise`: docs/runtime.md and docs/advise.md of Octavo explain it.
 * All functions may be called from any thread. None of them ends the process, prints, or keeps a pointer that it was
 * given. A machine is read-only once it is open.
 */
#ifndef OCTAVO_H
#define OCTAVO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change that programs notice. */
#define OCTAVO_ABI 1

/* What came of a call: 0 or above with an answer, below 0 without. */
typedef int32_t octavo_status;
#define OCTAVO_OK 0
#define OCTAVO_ASSUMED_MACHINE 1 /* answered, for a built-in machine (an H100 over PCIe 5): none was given */
#define OCTAVO_BAD_ARGUMENT (-1) /* a pointer is null, or a number is outside its range */
#define OCTAVO_NO_FILE (-2)      /* the file cannot be read */
#define OCTAVO_BAD_FILE (-3)     /* the file does not hold the constants of a machine, in this version's format */
#define OCTAVO_DOES_NOT_FIT (-4) /* what may lie nowhere but on the device exceeds its memory */
#define OCTAVO_INTERNAL (-5)     /* an error in Octavo */

/* Where memory lies. */
typedef int32_t octavo_placement;
#define OCTAVO_DEVICE 0  /* cudaMalloc, with copies */
#define OCTAVO_MANAGED 1 /* cudaMallocManaged: comes by pages */
#define OCTAVO_PINNED 2  /* cudaMallocHost: comes by lines */

/* Which part of the costs decides; docs/advise.md explains each. */
typedef int32_t octavo_term;
#define OCTAVO_EXPOSED 0
#define OCTAVO_FAULTS 1
#define OCTAVO_THRASHING 2
#define OCTAVO_FIRST_TOUCH 3
#define OCTAVO_RETURNED 4
#define OCTAVO_HAVING 5
#define OCTAVO_LAUNCHES 6
#define OCTAVO_COPY 7

/* octavo_data.flags */
#define OCTAVO_DEVICE_FIRST 1u /* the device touches it first; the host does otherwise */
#define OCTAVO_WRITE_SHARED 2u /* host and device write it in concurrent or near phases: managed memory thrashes */
#define OCTAVO_SEEN_BY_HOST 4u /* the host touches it; so it does if anything is copied */
#define OCTAVO_SWEPT 8u        /* the device touches its pages in order, so that the driver's prefetcher goes ahead */

/* What is known of a data structure. 0 stands for "not known" in every field but the first three. Numbers that are
 * infinite, negative or no numbers are refused (OCTAVO_BAD_ARGUMENT), and so are seconds from 1e6 on. */
typedef struct octavo_data {
    uint32_t struct_size;        /* sizeof(octavo_data) */
    uint32_t flags;
    uint64_t bytes;              /* as allocated, above 0 */
    double touched;              /* share of its pages that the device touches, above 0, at most 1; all if not known */
    double visits;               /* times that a touched page comes to the device, at least 1, below 1e18; once if not known */
    uint64_t accessed_bytes;     /* by kernels, repeats counted; decides nothing today: no work hides what pages take to come */
    double operations;           /* integer and floating point, on these, below 1e18; decides nothing today, either */
    uint64_t blocks;             /* of a launch that uses it: its occupancy, and faults that are served together */
    uint64_t threads_per_block;
    double kernel_seconds;       /* of the kernels that use it, data on the device; decides nothing today, either */
    uint64_t line_bytes;         /* that miss the device's caches, each time; pinned memory is not considered if not known */
    uint64_t faults_together;    /* pages that faults in flight wait for; from the launch, or 1, if not known */
    uint64_t copied_in;          /* bytes copied to the device if it lies there */
    uint64_t copied_out;         /* bytes copied back */
    uint64_t copies;             /* calls that copy; one for each direction if not known */
    double stalled_seconds;      /* that its faults are held up because it thrashes */
} octavo_data;

/* Where to allocate it, and what the others would cost. */
typedef struct octavo_answer {
    uint32_t struct_size;        /* sizeof(octavo_answer) */
    octavo_placement placement;
    octavo_term dominant;        /* in which the best other placement costs most beyond this one */
    uint32_t exact;              /* 1 unless the search of octavo_get_placements was cut off */
    double managed_seconds;      /* beyond device memory; below 0 it is the better one; infinity if it thrashes */
    double pinned_seconds;       /* beyond device memory; not a number if nothing is known of its lines */
} octavo_answer;

/* The constants of a machine. */
typedef struct octavo_machine octavo_machine;

/* The value of OCTAVO_ABI that the library was built with. */
uint32_t octavo_abi(void);

/* Opens the constants of a machine, a file that `octavo constants` wrote. `path` may be null: then it is that of the
 * environment variable OCTAVO_CONSTANTS; without it the built-in machine is opened and the status is
 * OCTAVO_ASSUMED_MACHINE. `message` may be null; it receives what is wrong, cut to `message_size` bytes with the 0 at
 * its end. Reads a file: takes milliseconds. */
octavo_status octavo_open(const char *path, octavo_machine **machine, char *message, size_t message_size);

/* Frees a machine. Null is allowed. */
void octavo_close(octavo_machine *machine);

/* The name of a machine, valid as long as it is open. Of null, the built-in one's. */
const char *octavo_machine_name(const octavo_machine *machine);

/* Where to allocate one data structure. `machine` may be null: then the answer is for the built-in machine and the
 * status is OCTAVO_ASSUMED_MACHINE. */
octavo_status octavo_get_placement(const octavo_machine *machine, const octavo_data *data, octavo_answer *answer);

/* Where to allocate several that share `budget` bytes of device memory (0: all that the machine has). The answers are
 * in the order of the data. Takes longer the more there are: up to about a second before the search is cut off. */
octavo_status octavo_get_placements(const octavo_machine *machine, const octavo_data *data, size_t count,
                                    uint64_t budget, octavo_answer *answers);

/* In words; never null. */
const char *octavo_status_text(octavo_status status);
const char *octavo_placement_name(octavo_placement placement);
const char *octavo_term_name(octavo_term term);

#ifdef __cplusplus
}
#endif

#endif
