/* Asks about a buffer of which little is used, and about the same, dense; then asks what has no answer. */
#include <octavo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, CALLS = 2000 };

static const octavo_data rare = {
    .struct_size = sizeof(octavo_data), .bytes = 1u << 30, .touched = 0.05,
    .faults_together = 64, .copied_in = 1u << 30, .copies = 1,
};

static octavo_answer fresh(void) {
    octavo_answer answer;
    memset(&answer, 0, sizeof answer);
    answer.struct_size = sizeof answer;
    return answer;
}

static octavo_status ask(const octavo_machine *machine, octavo_data data) {
    octavo_answer answer = fresh();
    octavo_status status = octavo_get_placement(machine, &data, &answer);
    printf("%d", status);
    if (status >= 0)
        printf(" %s %s", octavo_placement_name(answer.placement), octavo_term_name(answer.dominant));
    printf("\n");
    return status;
}

/* Every thread has to get the same answer each time. */
static void *many(void *machine) {
    octavo_answer first = fresh();
    octavo_get_placement(machine, &rare, &first);
    for (int call = 0; call < CALLS; call++) {
        octavo_answer answer = fresh();
        octavo_get_placement(machine, &rare, &answer);
        if (answer.managed_seconds != first.managed_seconds || answer.placement != first.placement) abort();
    }
    return NULL;
}

static void from_threads(octavo_machine *machine) {
    pthread_t threads[THREADS];
    for (int thread = 0; thread < THREADS; thread++) pthread_create(&threads[thread], NULL, many, machine);
    for (int thread = 0; thread < THREADS; thread++) pthread_join(threads[thread], NULL);
}

int main(int count, char **arguments) {
    char message[200] = "";
    octavo_machine *machine = NULL;
    octavo_status status = octavo_open(count > 1 ? arguments[1] : NULL, &machine, message, sizeof message);
    printf("%d %s [%s]\n", status, octavo_machine_name(machine), message);
    if (status < 0) return 0;

    octavo_data dense = rare;
    dense.touched = 1.0;
    ask(machine, rare);
    ask(machine, dense);
    ask(NULL, rare);
    from_threads(machine);

    octavo_data wrong = rare;
    wrong.touched = 1.5;
    ask(machine, wrong);
    wrong = rare;
    wrong.struct_size = 8;
    ask(machine, wrong);
    wrong = rare;
    wrong.flags = 1u << 31;
    ask(machine, wrong);
    wrong = rare;
    wrong.bytes = 1ull << 50;
    wrong.flags = OCTAVO_WRITE_SHARED;
    ask(machine, wrong);

    octavo_answer answer = fresh();
    printf("%d %d %d\n", octavo_get_placement(machine, NULL, &answer), octavo_get_placement(machine, &rare, NULL),
           octavo_open(NULL, NULL, NULL, 0));
    octavo_close(machine);
    octavo_close(NULL);
    return 0;
}
