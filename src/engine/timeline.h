/* What each rank did when, in one repetition: the spans of a kernel's phases on rank 0's clock. */
#ifndef SWITCHPOINT_TIMELINE_H
#define SWITCHPOINT_TIMELINE_H

#include <stddef.h>

#include "kernel.h"

/* A record keeps the spans of the first ranks, and the first spans of each, so that its size is
 * bounded. */
enum { TIMELINE_RANKS_MAX = 64, TIMELINE_SPANS_MAX = 64 };

struct span {
    int rank;
    int phase;
    double start_us; /* since the repetition began at rank 0 */
    double end_us;
};

/* The spans of one rank; `phase_end` adds to it. */
struct timeline {
    struct span spans[TIMELINE_SPANS_MAX];
    int count;
};

/* One repetition, on rank 0. */
struct activity {
    struct span *spans; /* by rank, then by time; free with free() */
    size_t count;
    double length_us;      /* at rank 0 */
    double clock_error_us; /* another rank's clock is off by this at most */
};

/* Collective. Runs a mode for a few repetitions, at most `most`, each from a barrier of its own,
 * and keeps on rank 0 what each rank did in the repetition of median length. Returns how many
 * repetitions it ran. */
long timeline_watch(struct task *task, const struct mode *mode, long most,
                    struct activity *activity);

#endif
