/* How far this rank's clock is ahead of rank 0's at any moment: a line through comparisons, since
 * the clocks of two machines drift apart (Hunold and Carpen-Amarie, IEEE Cluster 2015). */
#ifndef SWITCHPOINT_CLOCK_MODEL_H
#define SWITCHPOINT_CLOCK_MODEL_H

#include <mpi.h>

#include "clock_offset.h"

enum { COMPARISONS_MAX = 64 };

/* Begins with zeros. They stay zero on ranks that share rank 0's operating system and clock. */
struct clock_model {
    struct clock_offset comparisons[COMPARISONS_MAX]; /* the last ones, in any order */
    long count;                                       /* of all */
    struct clock_offset last;
    struct clock_offset middle; /* where the line is known best */
    double drift;               /* how much further ahead this rank's clock is, for each us */
    double variance_us2;        /* of the line's middle, as the comparisons scatter around it */
    double drift_variance;
};

/* Collective. Compares the clocks once more. The first time it compares them often enough to know
 * their drift, which takes a tenth of a second, unless all ranks are under one operating system.
 * `kernels` has for each rank the lowest rank under the same one. */
void clock_model_compare(MPI_Comm comm, const int *kernels, struct clock_model *model);

/* By how much this rank's clock is ahead, at a moment of its own. */
double clock_model_ahead_us(const struct clock_model *model, double at_us);

/* The largest error of that: half of a round trip, because one of its ways may take longer than the
 * other, and three standard errors of the line. */
double clock_model_error_us(const struct clock_model *model, double at_us);

#endif
