/* Counts of the v-forms of collectives (MPI_Gatherv and others). With the same count for every rank
 * they do what the regular calls do, which know more and should not be slower. */
#ifndef SWITCHPOINT_RANK_COUNTS_H
#define SWITCHPOINT_RANK_COUNTS_H

#include "kernel.h"

/* One of each for every rank, in bytes; the `state` of kernels with such modes. */
struct rank_counts {
    int *counts;
    int *offsets;
};

/* `variant` of modes in which a rank's count grows with its number, from none on rank 0 to twice
 * the size on the last rank. Together they are as many as with the same count for every rank. */
extern const char GROWING_COUNTS[];

/* The count of a rank, and those of all ranks before it. */
size_t count_of_rank(const struct task *task, int rank);
size_t counts_before(const struct task *task, int rank);

/* `send_bytes` of modes in which each rank sends its count, and their `arrival` at a rank that gets
 * those of all ranks, in their order. */
size_t own_count(const struct task *task);
bool arrival_of_counts(const struct task *task, int index, struct arrival *arrival);

/* `prepare` and `release` of such modes. */
void rank_counts_prepare(const struct task *task);
void rank_counts_release(const struct task *task);

#endif
