/* Counts and offsets for the v-forms of collectives. */
#include "equal_counts.h"

#include <stdlib.h>

#include "memory.h"

void equal_counts_prepare(const struct task *task)
{
    struct equal_counts *equal = task->state;
    equal->counts = allocate((size_t)task->ranks, sizeof *equal->counts);
    equal->offsets = allocate((size_t)task->ranks, sizeof *equal->offsets);
    for (int rank = 0; rank < task->ranks; rank++) {
        equal->counts[rank] = count_of(task);
        equal->offsets[rank] = rank * count_of(task);
    }
}

void equal_counts_release(const struct task *task)
{
    struct equal_counts *equal = task->state;
    free(equal->counts);
    free(equal->offsets);
}
