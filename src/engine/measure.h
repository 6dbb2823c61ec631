/* One visit to one point: warm up, calibrate, poison, time the blocks, verify. */
#ifndef SWITCHPOINT_MEASURE_H
#define SWITCHPOINT_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "options.h"
#include "plan.h"
#include "start.h"

/* Sets the task to a point: its message size, the window that this size allows, and how many copies
 * of its buffers take turns. */
void task_turn_to(struct task *task, const struct options *options, const struct point *point);

/* The buffers that a point needs on this rank, with all copies. */
size_t send_bytes_needed(const struct mode *mode, const struct task *task);
size_t receive_bytes_needed(const struct mode *mode, const struct task *task);

/* The requests that a point needs on this rank. */
size_t requests_needed(const struct mode *mode, const struct task *task);

/* What one visit measured; on rank 0. */
struct visit {
    long blocks;
    /* Per block, in us per message: the time, then the kernel's phases. Room for
     * options->samples blocks. */
    double *values_us;
    size_t columns;     /* 1 and one per phase */
    struct start start; /* kept from visit to visit; for blocks that start at an agreed time */
};

/* Collective. Measures a point in a pass and updates its calibration and its payload counts.
 * Returns the bytes that moved to this rank, or from it, warm-up included: over all ranks each
 * byte counts once. */
int64_t measure(const struct kernel *kernel, const struct options *options, struct task *task,
                struct point *point, int pass, struct visit *visit);

#endif
