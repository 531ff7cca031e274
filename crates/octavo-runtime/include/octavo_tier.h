/* Memory of several GPUs and of the host behind addresses that stay: pieces move between launches, by plan.
 *
 * docs/tier.md of Octavo explains it. There is one tier for the process. All functions may be called from any thread and
 * do one thing after another; none of them ends the process or prints. Those that say so move pieces: while one of them
 * runs, nobody may launch work that uses memory of the tier. What was launched before is waited for where it must be.
 */
#ifndef OCTAVO_TIER_H
#define OCTAVO_TIER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the tier, after closing one that is open. Words in any order:
 *     devices=0,1      GPUs by their numbers; 0 if left out
 *     memory=4GiB,2GiB what each gives, or one size for all
 *     host=8GiB        what the host gives: all that is allocated must fit there when devices yield
 *     piece=2MiB       bytes that move together, a power of two up to 32MiB; 2MiB if left out
 *     mapped=yes       pieces without room on their device are reached on the host, and no device keeps any for others
 *     stand-in=yes     there are no GPUs: for tests
 * NULL stands for the text in OCTAVO_TIER. Other functions open the tier with that if it is not open.
 * 0, or -1 with an error. */
int octavo_tier_open(const char *settings);

/* Frees everything. 0, or -1 with an error; then call it again. */
int octavo_tier_close(void);

/* What went wrong last on this thread; valid until something else does. */
const char *octavo_tier_error(void);

/* Memory that holds zeros; its address is for this device. NULL with an error. In a mapped tier the device can access it
 * at once, which may move pieces; in another one after octavo_tier_before_launch. The stream is not used: these two are
 * what torch.cuda.memory.CUDAPluggableAllocator takes, and a stream is a cudaStream_t. */
void *octavo_tier_malloc(ssize_t bytes, int device, void *stream);
void octavo_tier_free(void *address, ssize_t bytes, int device, void *stream);

/* Moves pieces: brings memory that the next launch on a device uses to that device. 0, or -1 with an error if it does not
 * fit, and in no case is anything lost. In a mapped tier, what does not fit is reached on the host. */
int octavo_tier_before_launch(void *const *addresses, size_t count, int device);

/* Moves pieces: a device keeps so many bytes at most and gives the rest of its memory back to the driver; it may hold so
 * many again. 0, or -1 with an error; then call it again. */
int octavo_tier_yield(int device, uint64_t keep);
int octavo_tier_take(int device, uint64_t bytes);

/* Where everything is and what it cost, as JSON. At most `size` bytes are written, a null byte at the end among them.
 * Returns the bytes that all of it takes; 0 with an error. */
size_t octavo_tier_status(char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
