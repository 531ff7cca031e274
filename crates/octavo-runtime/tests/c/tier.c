/* The tier as a C program uses it, on the stand-in, whose addresses the program can touch. */
#include <octavo_tier.h>
#include <stdio.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

int main(void)
{
    char status[8192];
    printf("%d ", octavo_tier_open("devices=0,1 memory=lots"));
    printf("[%s]\n", octavo_tier_error());
    if (octavo_tier_open("devices=0,1 memory=4MiB,2MiB host=16MiB stand-in=yes")) return 1;
    void *weights = octavo_tier_malloc(2 * MIB, 0, NULL);
    void *inputs[2] = {octavo_tier_malloc(2 * MIB, 0, NULL), octavo_tier_malloc(MIB, 0, NULL)};
    for (int step = 0; step < 4; step++) {
        void *used[2] = {weights, inputs[step % 2]};
        if (octavo_tier_before_launch(used, 2, 0)) return 1;
        *(int *)weights += 1;
        *(int *)inputs[step % 2] += 10;
    }
    printf("%d ", octavo_tier_yield(1, 0));
    printf("%d\n", octavo_tier_yield(0, 2 * MIB));
    for (int at = 0; at < 2; at++) {
        if (octavo_tier_before_launch(&inputs[at], 1, 0)) return 1;
        printf("%d ", *(int *)inputs[at]);
    }
    void *used[2] = {weights, inputs[0]};
    printf("%d ", octavo_tier_before_launch(used, 2, 0));
    printf("[%s]\n", octavo_tier_error());
    printf("%d ", octavo_tier_take(0, 4 * MIB));
    printf("%d\n", octavo_tier_before_launch(used, 2, 0));
    printf("%d ", *(int *)weights);
    size_t needed = octavo_tier_status(status, sizeof status);
    printf("%d %d\n", needed == strlen(status) + 1, strstr(status, "\"device\":1,\"room\":0,\"owned\":0,\"held\":0") != NULL);
    octavo_tier_free(weights, 2 * MIB, 0, NULL);
    octavo_tier_free(weights, 2 * MIB, 0, NULL);
    printf("%d\n", strncmp(octavo_tier_error(), "no buffer at", 12) == 0);
    printf("%d %d\n", octavo_tier_malloc(0, 0, NULL) == NULL, octavo_tier_malloc(17 * MIB, 0, NULL) == NULL);
    printf("%d\n", octavo_tier_close());
    return 0;
}
