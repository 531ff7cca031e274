/* Programs as one finds them, small: each with memory of one kind, as its author wrote it, or with what an expert would
 * have added by hand: `shapes SHAPE [hand]`; `touched` as well: the host touches the table between launches; `apart`: in
 * a stream that copies do not wait for, while another one is at work. Exits with 0 if the results are right. */
#include "stand_in.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = sizeof(int), TO_HOST = -1 };
static int by_hand, touched, apart;

static void *managed(size_t size) {
    void *made = NULL;
    if (cudaMallocManaged(&made, size, 1)) exit(3);
    return made;
}
static void launch(void (*kernel)(void **), unsigned blocks, void **values, void *stream) {
    dim3 grid = {blocks, 1, 1}, block = {256, 1, 1};
    if (cudaLaunchKernel((void *)kernel, grid, block, values, 0, stream)) exit(4);
}
static void wait(void) {
    if (cudaDeviceSynchronize()) exit(5);
}
/* What an expert adds. */
static void bring(void *memory, size_t size, int device) {
    if (by_hand && cudaMemPrefetchAsync(memory, size, device, NULL)) exit(6);
}
static void fill(int *to, size_t count, int value) {
    for (size_t at = 0; at < count; at++) to[at] = value + (int)at;
}
static void check(int right) {
    if (!right) exit(7);
}

/* y = a x, then z = a y: the host writes a and x once, reads z at the end. */
enum { SIDE = 2048 };
static void product(void **values) {
    int *a = *(int **)values[0], *x = *(int **)values[1], *y = *(int **)values[2];
    for (int row = 0; row < SIDE; row++) {
        int sum = 0;
        for (int at = 0; at < SIDE; at++) sum += a[row * SIDE + at] * x[at];
        y[row] = sum;
    }
    stand_in_spend(300000);
}
/* The same, by columns: another kernel. */
static void product_of_columns(void **values) { product(values); }
static const size_t THREE[] = {8, 8, 8};
static void atax(void) {
    int *a = managed(SIDE * SIDE * WORD), *x = managed(SIDE * WORD), *y = managed(SIDE * WORD), *z = managed(SIDE * WORD);
    fill(a, SIDE * SIDE, 1), fill(x, SIDE, 2);
    stand_in_kernel((void *)product, "product", 3, THREE);
    stand_in_kernel((void *)product_of_columns, "product_of_columns", 3, THREE);
    bring(a, SIDE * SIDE * WORD, 0);
    void *first[] = {&a, &x, &y}, *second[] = {&a, &y, &z};
    launch(product, 8, first, NULL), launch(product_of_columns, 8, second, NULL);
    wait();
    int sum = 0, other = 0;
    for (int at = 0; at < SIDE; at++) sum += (1 + at) * (2 + at), other += y[at] != 0;
    check(y[0] == sum && other && z[0]);
    cudaFree(a), cudaFree(x), cudaFree(y), cudaFree(z);
}

/* 255 short launches along the diagonal of a table that the host writes, and reads at the end; the pointers come in a
 * structure. */
enum { TILES = 128, TILE = 16, TABLE = TILES * TILE };
struct table { int penalty; int *scores, *costs; };
static void diagonal(void **values) {
    struct table table = *(struct table *)values[0];
    int line = *(int *)values[1];
    for (int row = 0; row < TILES; row++) {
        int column = line - row;
        if (column < 0 || column >= TILES) continue;
        for (int at = 0; at < TILE; at++)
            for (int each = 0; each < TILE; each++) {
                size_t place = (size_t)(row * TILE + at) * TABLE + (size_t)(column * TILE + each);
                table.scores[place] += table.costs[place] + table.penalty;
            }
    }
}
static const size_t TABLE_AND_LINE[] = {sizeof(struct table), 4};
static void needle(void) {
    size_t count = (size_t)TABLE * TABLE;
    struct table table = {10, managed(count * WORD), managed(count * WORD)};
    fill(table.scores, count, 0), fill(table.costs, count, 5);
    stand_in_kernel((void *)diagonal, "diagonal", 2, TABLE_AND_LINE);
    bring(table.scores, count * WORD, 0), bring(table.costs, count * WORD, 0);
    for (int line = 0; line < 2 * TILES - 1; line++) {
        void *values[] = {&table, &line};
        launch(diagonal, 1 + (unsigned)(line < TILES ? line : 2 * TILES - 2 - line), values, NULL);
    }
    bring(table.scores, count * WORD, TO_HOST);
    wait();
    for (size_t at = 0; at < count; at += 511) check(table.scores[at] == 2 * (int)at + 15);
    cudaFree(table.scores), cudaFree(table.costs);
}

/* Sixty steps between two tables, of which the GPU touches the second first; a third is only read. */
enum { PLATE = 1 << 20, STEPS = 60 };
static void heat(void **values) {
    int *from = *(int **)values[0], *to = *(int **)values[1], *power = *(int **)values[2];
    for (int at = 0; at < PLATE; at++) to[at] = from[at] + power[at];
    stand_in_spend(12000);
}
static void hotspot(void) {
    int *from = managed(PLATE * WORD), *to = managed(PLATE * WORD), *power = managed(PLATE * WORD);
    fill(from, PLATE, 3), fill(power, PLATE, 1);
    stand_in_kernel((void *)heat, "heat", 3, THREE);
    bring(from, PLATE * WORD, 0), bring(to, PLATE * WORD, 0), bring(power, PLATE * WORD, 0);
    for (int step = 0; step < STEPS; step++) {
        void *values[] = {&from, &to, &power};
        launch(heat, 1024, values, NULL);
        int *other = from;
        from = to, to = other;
    }
    bring(from, PLATE * WORD, TO_HOST);
    wait();
    for (int at = 0; at < PLATE; at++) check(from[at] == 3 + at + STEPS * (1 + at));
    cudaFree(from), cudaFree(to), cudaFree(power);
}

/* A large table of which each launch needs a little: bringing all of it does not help. */
enum { LARGE = 16 << 20, LOOKS = 12 };
static void look(void **values) {
    int *table = *(int **)values[0], *found = *(int **)values[1], which = *(int *)values[2];
    for (int each = 0; each < 2; each++) found[each] = table[(size_t)(which * 2 + each) * (512 << 10) % LARGE];
    stand_in_spend(5000);
}
static const size_t LOOKED[] = {8, 8, 4};
static void sparse(void) {
    int *table = managed((size_t)LARGE * WORD), *found = managed(4096);
    fill(table, LARGE, 1);
    stand_in_kernel((void *)look, "look", 3, LOOKED);
    for (int which = 0; which < LOOKS; which++) {
        void *values[] = {&table, &found, &which};
        launch(look, 1, values, NULL);
        wait();
        for (size_t at = 0; touched && at < LARGE; at += 1024) ((volatile int *)table)[at] = table[at];
        check(found[1] == 1 + (which * 2 + 1) * (512 << 10) % LARGE);
    }
    cudaFree(table), cudaFree(found);
}

/* Each round the host writes the input and reads the output. */
enum { BATCH = 1 << 20, ROUNDS = 8 };
static void scale(void **values) {
    int *in = *(int **)values[0], *out = *(int **)values[1], factor = *(int *)values[2];
    for (int at = 0; at < BATCH; at++) out[at] = in[at] * factor;
    stand_in_spend(40000);
}
static void rounds(void) {
    int *in = managed(BATCH * WORD), *out = managed(BATCH * WORD);
    void *stream = NULL;
    if (cudaStreamCreate(&stream)) exit(8);
    stand_in_kernel((void *)scale, "_Z5scalePiS_i", 3, LOOKED);
    for (int round = 1; round <= ROUNDS; round++) {
        fill(in, BATCH, round);
        if (by_hand && cudaMemPrefetchAsync(in, BATCH * WORD, 0, stream)) exit(6);
        if (by_hand && cudaMemPrefetchAsync(out, BATCH * WORD, 0, stream)) exit(6);
        void *values[] = {&in, &out, &round};
        launch(scale, 512, values, stream);
        if (by_hand && cudaMemPrefetchAsync(out, BATCH * WORD, TO_HOST, stream)) exit(6);
        if (by_hand && cudaMemPrefetchAsync(in, BATCH * WORD, TO_HOST, stream)) exit(6);
        if (cudaStreamSynchronize(stream)) exit(5);
        for (int at = 0; at < BATCH; at++) check(out[at] == (round + at) * round);
    }
    cudaFree(in), cudaFree(out);
}

/* A table that both sides read in turns, and nobody writes. */
static void sum(void **values) {
    int *table = *(int **)values[0], *out = *(int **)values[1], which = *(int *)values[2];
    int total = 0;
    for (int at = 0; at < BATCH; at++) total += table[at] * which;
    *out = total;
    stand_in_spend(20000);
}
static void shared(void) {
    int *table = managed(BATCH * WORD), *out = managed(4096);
    fill(table, BATCH, 1);
    stand_in_kernel((void *)sum, "sum", 3, LOOKED);
    bring(table, BATCH * WORD, 0);
    if (by_hand && cudaMemAdvise(table, BATCH * WORD, 1, 0)) exit(6);
    for (int which = 1; which <= ROUNDS; which++) {
        void *values[] = {&table, &out, &which};
        launch(sum, 512, values, NULL);
        wait();
        int total = 0;
        for (int at = 0; at < BATCH; at++) total += table[at] * which;
        check(*out == total);
    }
    cudaFree(table), cudaFree(out);
}

/* Each round the device clears what the host has read, and counts again. */
static void tally(void **values) {
    int *counts = *(int **)values[0], *by = *(int **)values[1], round = *(int *)values[2];
    for (int at = 0; at < BATCH; at++) counts[at] += by[at] + round;
}
static void cleared(void) {
    int *counts = managed(BATCH * WORD), *by = managed(BATCH * WORD);
    void *stream = NULL;
    if (cudaStreamCreate(&stream)) exit(8);
    fill(by, BATCH, 1);
    stand_in_kernel((void *)tally, "tally", 3, LOOKED);
    for (int round = 1; round <= ROUNDS; round++) {
        if (cudaMemsetAsync(counts, 0, BATCH * WORD, stream)) exit(9);
        void *values[] = {&counts, &by, &round};
        launch(tally, 512, values, stream);
        if (cudaStreamSynchronize(stream)) exit(5);
        for (int at = 0; at < BATCH; at++) check(counts[at] == 1 + at + round);
    }
    cudaFree(counts), cudaFree(by);
}

/* Memory of its own for each round. */
static void fresh(void) {
    stand_in_kernel((void *)scale, "_Z5scalePiS_i", 3, LOOKED);
    for (int round = 1; round <= ROUNDS; round++) {
        int *in = managed(BATCH * WORD), *out = managed(BATCH * WORD);
        fill(in, BATCH, round);
        bring(in, BATCH * WORD, 0), bring(out, BATCH * WORD, 0);
        void *values[] = {&in, &out, &round};
        launch(scale, 512, values, NULL);
        bring(out, BATCH * WORD, TO_HOST);
        wait();
        for (int at = 0; at < BATCH; at++) check(out[at] == (round + at) * round);
        cudaFree(in), cudaFree(out);
    }
}

/* Two streams at work at once, each on its own; the host waits for one after the other. */
static void streams(void) {
    struct { int *in, *out; void *stream; } each[2];
    stand_in_kernel((void *)scale, "_Z5scalePiS_i", 3, LOOKED);
    for (int one = 0; one < 2; one++) {
        each[one].in = managed(BATCH * WORD), each[one].out = managed(BATCH * WORD);
        if (cudaStreamCreate(&each[one].stream)) exit(8);
    }
    for (int round = 1; round <= ROUNDS; round++) {
        for (int one = 0; one < 2; one++) {
            fill(each[one].in, BATCH, round + one);
            void *stream = each[one].stream, *values[] = {&each[one].in, &each[one].out, &round};
            if (by_hand && cudaMemPrefetchAsync(each[one].in, BATCH * WORD, 0, stream)) exit(6);
            if (by_hand && cudaMemPrefetchAsync(each[one].out, BATCH * WORD, 0, stream)) exit(6);
            launch(scale, 512, values, stream);
            if (by_hand && cudaMemPrefetchAsync(each[one].out, BATCH * WORD, TO_HOST, stream)) exit(6);
            if (by_hand && cudaMemPrefetchAsync(each[one].in, BATCH * WORD, TO_HOST, stream)) exit(6);
        }
        for (int one = 0; one < 2; one++) {
            if (cudaStreamSynchronize(each[one].stream)) exit(5);
            for (int at = 0; at < BATCH; at++) check(each[one].out[at] == (round + one + at) * round);
        }
    }
    for (int one = 0; one < 2; one++) cudaFree(each[one].in), cudaFree(each[one].out);
}

/* Three tables in turns, each with what the launch before made of it: room for two of them is not enough for a driver
 * that lets go of what was used least recently. */
enum { TURNS = 6, TABLES = 3 };
static void turn(void **values) {
    int *table = *(int **)values[0];
    for (int at = 0; at < PLATE; at++) table[at] += 1;
    stand_in_spend(12000);
}
static void turns(void) {
    int *tables[TABLES];
    stand_in_kernel((void *)turn, "turn", 3, THREE);
    for (int each = 0; each < TABLES; each++) tables[each] = managed(PLATE * WORD), fill(tables[each], PLATE, each);
    for (int round = 0; round < TURNS; round++)
        for (int each = 0; each < TABLES; each++) {
            void *values[] = {&tables[each], &tables[each], &tables[each]};
            launch(turn, 1024, values, NULL);
        }
    wait();
    for (int each = 0; each < TABLES; each++) {
        for (int at = 0; at < PLATE; at += 511) check(tables[each][at] == each + at + TURNS);
        cudaFree(tables[each]);
    }
}

/* A search that goes on until nothing new is found: what the host copies in before each launch, and uses for something
 * else at once, the kernel changes by another address of it, which lies in device memory; the host copies it out. */
enum { CELLS = 1 << 16, FRONT = 200 };
static void spread(void **values) {
    int *cells = *(int **)values[0], front = **(int **)values[1];
    **(int **)*(int ***)values[2] = front < FRONT ? front + cells[front] : 0;
    stand_in_spend(9000);
}
static void copy(void *to, const void *from, size_t size, int direction) {
    if (cudaMemcpy(to, from, size, direction)) exit(10);
}
static void *on_device(size_t size) {
    void *made = NULL;
    if (cudaMalloc(&made, size)) exit(3);
    return made;
}
/* Longer than all else that happens. */
static void long_work(void **values) { (void)values, stand_in_spend(1e9); }
static void *stream_apart(void) {
    void *made = NULL;
    if (cudaStreamCreateWithFlags(&made, 1)) exit(8);
    return made;
}
static void flag(void) {
    if (apart) launch(long_work, 1, NULL, stream_apart());
    int *cells = on_device(CELLS * WORD), *host = malloc(CELLS * WORD), *over, front = 0;
    if (!by_hand) over = on_device(WORD);
    else if (cudaMallocHost((void **)&over, WORD)) exit(3);
    void **found = on_device(sizeof *found), *stream = apart ? stream_apart() : NULL, *values[] = {&cells, &over, &found};
    for (int at = 0; at < CELLS; at++) host[at] = 1 + at % 2;
    copy(cells, host, CELLS * WORD, 1), copy(found, &over, sizeof over, 1);
    stand_in_kernel((void *)spread, "spread", 3, THREE);
    for (int next = 1; next; front = next) {
        int was = next;
        if (by_hand) *over = next;
        else copy(over, &next, WORD, 1), next = -1;
        launch(spread, 256, values, stream);
        if (by_hand || apart) cudaStreamSynchronize(stream);
        if (by_hand) next = *over;
        else copy(&next, over, WORD, 2);
        check(next == (was < FRONT ? was + host[was] : 0));
    }
    copy(host, cells, CELLS * WORD, 2);
    check(!front && host[1] == 2);
    cudaFree(cells), cudaFree(found), by_hand ? cudaFreeHost(over) : cudaFree(over), free(host);
}

/* A large table is copied in, and used once; the result is copied out. */
static void copied(void) {
    int *in = on_device(BATCH * WORD), *out = on_device(BATCH * WORD), *host = malloc(BATCH * WORD), factor = 3;
    void *values[] = {&in, &out, &factor};
    fill(host, BATCH, 1);
    copy(in, host, BATCH * WORD, 1);
    stand_in_kernel((void *)scale, "_Z5scalePiS_i", 3, LOOKED);
    launch(scale, 512, values, NULL);
    copy(host, out, BATCH * WORD, 2);
    for (int at = 0; at < BATCH; at++) check(host[at] == (1 + at) * 3);
    cudaFree(in), cudaFree(out), free(host);
}

int main(int count, char **arguments) {
    static const struct { const char *name; void (*run)(void); } all[] = {
        {"atax", atax}, {"needle", needle}, {"hotspot", hotspot}, {"sparse", sparse}, {"rounds", rounds}, {"shared", shared},
        {"cleared", cleared}, {"fresh", fresh}, {"streams", streams}, {"turns", turns},
        {"flag", flag}, {"copied", copied},
    };
    by_hand = count > 2 && !strcmp(arguments[2], "hand");
    touched = count > 2 && !strcmp(arguments[2], "touched");
    apart = count > 2 && !strcmp(arguments[2], "apart");
    for (size_t each = 0; count > 1 && each < sizeof all / sizeof *all; each++)
        if (!strcmp(all[each].name, arguments[1])) return all[each].run(), 0;
    return fprintf(stderr, "shapes SHAPE [hand | touched | apart]\n"), 2;
}
