/* A program of the runtime's: squares what it copies in. Exits with 0 if the results are right. */
#include "stand_in.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1024, SIZE = COUNT * sizeof(int), ROUNDS = 50, THREADS = 8, SHAPES = 20000, LOADED = 400 };

static void square(void **values) {
    int *to = *(int **)values[0], *from = *(int **)values[1];
    for (int at = 0; at < COUNT; at++) to[at] = from[at] * from[at];
}

static __attribute__((noinline)) void *input(void) {
    void *made = NULL;
    if (cudaMalloc(&made, SIZE)) exit(3);
    return made;
}

static __attribute__((noinline)) void *output(void) {
    void *made = NULL;
    if (cudaMallocManaged(&made, SIZE, 1)) exit(3);
    return made;
}

static void *work(void *nothing) {
    int host[COUNT], back[COUNT];
    for (int at = 0; at < COUNT; at++) host[at] = at;
    void *from = input(), *to = output();
    void *values[] = {&to, &from};
    dim3 grid = {COUNT / 128, 1, 1}, block = {128, 1, 1};
    if (cudaMemset(to, 0, SIZE) || cudaMemcpy(from, host, SIZE, 1)) exit(4);
    if (cudaMemPrefetchAsync(to, SIZE, 0, NULL) || cudaMemAdvise(to, SIZE, 3, 0)) exit(4);
    if (cudaLaunchKernel((void *)square, grid, block, values, 0, NULL)) exit(5);
    if (cudaMemcpy(back, to, SIZE, 2)) exit(6);
    for (int at = 0; at < COUNT; at++)
        if (back[at] != at * at) exit(7);
    if (cudaFree(from) || cudaFree(to) || cudaGetLastError()) exit(13);
    return nothing;
}

/* The first call of a thread. */
static void *free_it(void *memory) { return cudaFree(memory) ? memory : NULL; }

static int freed_elsewhere(void *memory) {
    pthread_t thread;
    void *left;
    pthread_create(&thread, NULL, free_it, memory);
    return pthread_join(thread, &left) || left;
}

static __attribute__((noinline)) int tried(void **made) { return cudaMalloc(made, SIZE); }

/* Four from one place; the second fails. */
static int retry(void) {
    void *made[4] = {NULL};
    for (volatile int each = 0; each < 4; each++) {
        int fails = each == 1;
        if (fails ? setenv("STAND_IN_LIMIT", "64", 1) : unsetenv("STAND_IN_LIMIT")) return 1;
        if (tried(&made[each]) != (fails ? 2 : 0)) return 1;
    }
    for (int each = 0; each < 4; each++)
        if (cudaFree(made[each])) return 1;
    return 0;
}

/* All is gone with the device: nothing is there to free. */
static int reset(void) {
    void *before = input();
    return cudaDeviceReset() || cudaFree(before) != 1 || cudaGetLastError() != 1;
}

/* A call without a hook. */
static int end_context(void) {
    int (*go)(int) = NULL;
    *(void **)&go = dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuDevicePrimaryCtxRelease_v2");
    return !go || go(0);
}

/* It is gone, and its address is given out again. */
static int release(void) {
    void *before = input(), *after;
    size_t pitch;
    if (end_context() || cudaMallocPitch(&after, &pitch, SIZE, 1)) return 1;
    return after != before || cudaFree(after);
}

/* It is gone: nothing can be copied there. */
static int stale(void) {
    void *before = input();
    int word = 1;
    return end_context() || cudaMemcpy(before, &word, sizeof word, 1) != 1 || cudaGetLastError() != 1;
}

static void *works(void *nothing) {
    for (int round = 0; round < ROUNDS; round++) work(NULL);
    return nothing;
}

static void rest(void **values) {
    (void)values;
    for (;;) pause();
}

static void *launch_rest(void *nothing) {
    dim3 one = {1, 1, 1};
    cudaLaunchKernel((void *)rest, one, one, NULL, 0, NULL);
    return nothing;
}

static void nothing_at_all(void **values) { (void)values; }

/* Every launch has a shape that was not there before. */
static void *launch_shapes(void *nothing) {
    for (unsigned shape = 1; shape <= SHAPES; shape++) {
        dim3 grid = {shape, 1, 1}, block = {32, 1, 1};
        if (cudaLaunchKernel((void *)nothing_at_all, grid, block, NULL, 0, NULL)) exit(5);
    }
    return nothing;
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    if (!strcmp(mode, "threads")) {
        pthread_t threads[THREADS];
        for (int each = 0; each < THREADS; each++) pthread_create(&threads[each], NULL, works, NULL);
        for (int each = 0; each < THREADS; each++) pthread_join(threads[each], NULL);
    } else if (!strcmp(mode, "fork")) {
        /* Another thread allocates while this one forks; the children allocate, too. */
        pthread_t thread;
        pthread_create(&thread, NULL, works, NULL);
        for (int child = 0; child < 4; child++) {
            pid_t made = fork();
            if (!made) {
                void *here = input();
                cudaFree(here);
                exit(0);
            }
            int status;
            waitpid(made, &status, 0);
            if (status) return 8;
        }
        pthread_join(thread, NULL);
    } else if (!strcmp(mode, "failure")) {
        void *made = NULL;
        if (cudaMalloc(&made, 1u << 20) != 2 || made || cudaGetLastError() != 2) return 9;
        work(NULL);
    } else if (!strcmp(mode, "constructor")) {
        /* A library calls CUDA as it is loaded, again and again, while another thread launches. */
        pthread_t thread;
        pthread_create(&thread, NULL, launch_shapes, NULL);
        for (int time = 0; time < LOADED; time++) {
            void *library = dlopen("libconstructor.so", RTLD_NOW);
            if (!library) return 10;
            dlclose(library);
        }
        pthread_join(thread, NULL);
    } else if (!strcmp(mode, "cancel")) {
        pthread_t thread;
        void *returned;
        pthread_create(&thread, NULL, launch_rest, NULL);
        usleep(20000);
        if (pthread_cancel(thread) || pthread_join(thread, &returned) || returned != PTHREAD_CANCELED) return 11;
        work(NULL);
    } else if (!strcmp(mode, "elsewhere")) {
        if (chdir("/")) return 12;
        work(NULL);
    } else if (!strcmp(mode, "pool")) {
        void *pooled = NULL;
        if (cudaMallocAsync(&pooled, SIZE, NULL) || cudaFreeAsync(pooled, NULL)) return 14;
        work(NULL);
    } else if (!strcmp(mode, "pinned")) {
        /* The device reaches memory of the host; then it is freed as such. */
        int *pinned = NULL, *reached = NULL;
        if (cudaMallocHost((void **)&pinned, SIZE) || cudaHostGetDevicePointer((void **)&reached, pinned, 0)) return 15;
        reached[COUNT - 1] = 3;
        return pinned[COUNT - 1] != 3 || cudaFreeHost(pinned) ? 16 : 0;
    } else if (!strcmp(mode, "order")) {
        /* Three from one place, freed the other way round. */
        void *made[3];
        for (volatile int each = 0; each < 3; each++) made[each] = input(); /* One place: it is not unrolled. */
        for (int each = 3; each--;)
            if (cudaFree(made[each])) return 17;
    } else if (!strcmp(mode, "freed-elsewhere")) {
        void *from = input(), *to = output();
        if (freed_elsewhere(from) || freed_elsewhere(to)) return 18;
    } else if (!strcmp(mode, "devices")) {
        /* Made on one device, freed while the thread uses another. */
        void *made;
        if (cudaSetDevice(1)) return 19;
        made = input();
        if (cudaSetDevice(0) || cudaFree(made)) return 19;
        int device = 9;
        if (cudaGetDevice(&device) || device) return 19;
        void *next = input();
        if (cudaFree(next)) return 19;
    } else if (!strcmp(mode, "busy")) {
        void *made = input();
        int first = cudaFree(made);
        if (getenv("STAND_IN_BUSY") ? first != 600 || cudaFree(made) : first) return 20;
    } else if (!strcmp(mode, "retry")) {
        if (retry()) return 21;
    } else if (!strcmp(mode, "reset")) {
        if (reset()) return 22;
    } else if (!strcmp(mode, "release")) {
        if (release()) return 23;
    } else if (!strcmp(mode, "stale")) {
        if (stale()) return 25;
    } else if (!strcmp(mode, "unlinked")) {
        /* The file is gone before the child begins. */
        if (getenv("OCTAVO_APPLY") && unlink(getenv("OCTAVO_APPLY"))) return 24;
        pid_t made = fork();
        if (!made) {
            cudaFree(input());
            exit(0);
        }
        int status;
        waitpid(made, &status, 0);
        if (status) return 24;
    } else if (!strcmp(mode, "nothing")) {
        puts("nothing to do with CUDA");
    } else {
        work(NULL);
        void *left = NULL;
        cudaMallocHost(&left, 100);
    }
    return 0;
}
