/* What each rank did when, in one repetition: the spans of a kernel's phases on rank 0's clock. */
#ifndef SWITCHPOINT_TIMELINE_H
#define SWITCHPOINT_TIMELINE_H

#include <stddef.h>

#include "engine.h"

/* Of a record's ranks and of a rank's spans, as many are kept as bound it. */
enum { TIMELINE_RANKS_MAX = 64, TIMELINE_SPANS_MAX = 64 };

struct span {
    int rank;
    int phase;
    double start_us; /* since the repetition began at rank 0 */
    double end_us;
};

/* What `phase_end` adds to while one is being kept. */
struct timeline {
    struct span spans[TIMELINE_SPANS_MAX];
    int count;
};

/* One repetition, on rank 0. */
struct activity {
    struct span *spans; /* by rank, then by time; free with free() */
    size_t count;
    double length_us;      /* at rank 0 */
    double clock_error_us; /* by which another rank's clock may be off, at most */
};

/* Collective. Repeats `run` some times, but at most `most`, one repetition after another from a
 * barrier, and keeps on rank 0 what each rank did in that of median length. Returns how many
 * repetitions there were. */
long timeline_watch(struct task *task, void (*run)(const struct task *task, long iterations),
                    long most, struct activity *activity);

#endif
