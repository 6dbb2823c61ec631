/* For a kernel that chooses each point by what the points before it have shown. */
#ifndef SWITCHPOINT_EXPLORER_H
#define SWITCHPOINT_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel.h"

struct brackets;
struct findings;
struct session;

struct explorer {
    const struct task *task;
    const struct mode *const *modes; /* the modes that the user asked for */
    size_t mode_count;
    int64_t smallest_bytes; /* of the sizes that the user asked for */
    int64_t largest_bytes;
    const struct brackets *brackets; /* that the user asked for */
    struct findings *findings;
    long search_time_ms;     /* of one bisection */
    long pause_us;           /* idle time before each timed block; starts as --pause */
    long warmup;             /* untimed repetitions before the blocks; starts as --warmup */
    long iterations;         /* repetitions in a block; 0: as many as fill the block time */
    struct session *session; /* the engine's own */
};

/* What one visit to a point measured: the same on every rank, valid until the next visit. */
struct blocks {
    long count;
    size_t columns;
    const double *values_us; /* per block the time, then the kernel's phases, in us per message */
    long iterations;         /* repetitions in each block */
    bool first;              /* this was the first visit to the point */
};

/* Collective. Visits one of the explorer's modes at a size between its smallest and its largest.
 * The samples go into the record as those of a sweep do; each visit counts as a pass of the point.
 * The first visit to a point finds out how many repetitions fill a block, unless the explorer says
 * how many. */
struct blocks explore(struct explorer *explorer, const struct mode *mode, int64_t size_bytes);

/* Collective. Whether the run has used its time budget; visit no further point then. */
bool explorer_is_out_of_time(const struct explorer *explorer);

/* The time budget in seconds; 0: none. */
long explorer_budget_s(const struct explorer *explorer);

#endif
