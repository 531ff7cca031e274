/* Prints where each field lies. */
#include <octavo.h>
#include <stdio.h>

#define DATA(field) printf("data %s %zu\n", #field, offsetof(octavo_data, field))
#define ANSWER(field) printf("answer %s %zu\n", #field, offsetof(octavo_answer, field))

int main(void) {
    DATA(struct_size);
    DATA(flags);
    DATA(bytes);
    DATA(touched);
    DATA(visits);
    DATA(accessed_bytes);
    DATA(operations);
    DATA(blocks);
    DATA(threads_per_block);
    DATA(kernel_seconds);
    DATA(line_bytes);
    DATA(faults_together);
    DATA(copied_in);
    DATA(copied_out);
    DATA(copies);
    DATA(stalled_seconds);
    printf("data  %zu\n", sizeof(octavo_data));
    ANSWER(struct_size);
    ANSWER(placement);
    ANSWER(dominant);
    ANSWER(exact);
    ANSWER(managed_seconds);
    ANSWER(pinned_seconds);
    printf("answer  %zu\n", sizeof(octavo_answer));
    return 0;
}
