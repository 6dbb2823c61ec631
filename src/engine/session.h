/* One run of a kernel: what all its stages work on. */
#ifndef SWITCHPOINT_SESSION_H
#define SWITCHPOINT_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "algorithm_modes.h"
#include "clock.h"
#include "findings.h"
#include "kernel.h"
#include "mpi_counters.h"
#include "needs.h"
#include "options.h"
#include "plan.h"
#include "record.h"
#include "start.h"

/* What the visit in progress has measured; the times are valid on rank 0. */
struct visit {
    long blocks;
    /* Per block, in us per message: the time, those of the ranks where the kernel has them, then
     * the kernel's phases. Has room for options.samples blocks. */
    double *values_us;
    size_t columns;
    size_t first_phase; /* column */
    long *iterations;   /* per block: the repetitions in its time; same on all ranks */

    /* Of the block in progress, in us. */
    double *call_phases_us; /* of the last call */
    double *calls_us;       /* this rank's time of each call */
    double *ranks_us;       /* on rank 0: one number for all ranks, of each call */
    long calls_room;        /* in both */
    double calls_end_us;    /* when no more calls start, on this rank's clock */
};

struct session {
    int argc;
    char **argv;
    const struct kernel *kernel;
    struct options options;
    struct algorithm_modes algorithms; /* modes that the options add */
    struct findings findings;
    struct task task;
    struct plan plan;
    struct needs room;    /* in the task's buffers and requests */
    struct record record; /* opened on rank 0 */
    struct visit visit;
    struct clock_facts clock;
    struct readings readings;
    struct mpi_counters *counters; /* those that the user asks for; NULL: none */
    struct start start;            /* for blocks that start at an agreed time */
    int64_t bytes_moved; /* to this rank or from it, warm-up included; over all ranks each byte
                            counts once */
    double begun_us;     /* when the time budget began */
    bool shortened;      /* the time budget ended the run */
};

/* Whether it searches for switches in place of a sweep. */
static inline bool explores(const struct session *session)
{
    return session->kernel->explore != NULL || session->options.brackets.count > 0;
}

#endif
