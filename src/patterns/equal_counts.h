/* The v-forms of collectives (MPI_Gatherv and others), with the same count for every rank: they do
 * what the regular calls do, which know more and should not be slower. */
#ifndef SWITCHPOINT_EQUAL_COUNTS_H
#define SWITCHPOINT_EQUAL_COUNTS_H

#include "kernel.h"

/* One of each for every rank, in bytes; the `state` of kernels with such modes. */
struct equal_counts {
    int *counts;
    int *offsets;
};

/* `prepare` and `release` of such modes. */
void equal_counts_prepare(const struct task *task);
void equal_counts_release(const struct task *task);

#endif
