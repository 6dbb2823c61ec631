/* Counts and offsets for the v-forms of collectives. */
#include "rank_counts.h"

#include <stdlib.h>

#include "memory.h"

const char GROWING_COUNTS[] = "growing";

/* Growing counts are 2 size r / (ranks - 1): those of ranks 0 to r - 1 add up to a whole number at
 * the end, and are rounded down before. */
size_t counts_before(const struct task *task, int rank)
{
    const int64_t r = rank;
    const int64_t bytes = task->variant == GROWING_COUNTS
                              ? task->size_bytes * r * (r - 1) / (task->ranks - 1)
                              : task->size_bytes * r;
    return (size_t)bytes;
}

size_t count_of_rank(const struct task *task, int rank)
{
    return counts_before(task, rank + 1) - counts_before(task, rank);
}

size_t own_count(const struct task *task)
{
    return count_of_rank(task, task->rank);
}

bool arrival_of_counts(const struct task *task, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){
        .offset = counts_before(task, index), .bytes = count_of_rank(task, index), .sender = index};
    return index < task->ranks;
}

void rank_counts_prepare(const struct task *task)
{
    struct rank_counts *each = task->state;
    each->counts = allocate((size_t)task->ranks, sizeof *each->counts);
    each->offsets = allocate((size_t)task->ranks, sizeof *each->offsets);
    for (int rank = 0; rank < task->ranks; rank++) {
        each->counts[rank] = (int)count_of_rank(task, rank);
        each->offsets[rank] = (int)counts_before(task, rank);
    }
}

void rank_counts_release(const struct task *task)
{
    struct rank_counts *each = task->state;
    free(each->counts);
    free(each->offsets);
}
