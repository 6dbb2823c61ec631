/* One timed block: its calls, each of which all ranks start together, and the times of the ranks.
 */
#ifndef SWITCHPOINT_BLOCK_H
#define SWITCHPOINT_BLOCK_H

#include "session.h"

/* What a block ran, on every rank. */
struct block_run {
    long repetitions; /* those of late calls too */
    long late_calls;  /* repeated, since a rank started late */
};

/* Collective. Times the point's repetitions into a row of the visit's values, which is valid on
 * rank 0. Needs `start_prepare` where calls start at an agreed time. */
struct block_run block_time(struct session *session, const struct point *point, double *values_us);

#endif
