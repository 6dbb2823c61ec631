/* Input, poison and verification of one copy of a point's buffers. */
#ifndef SWITCHPOINT_VERIFICATION_H
#define SWITCHPOINT_VERIFICATION_H

#include "plan.h"
#include "task.h"

/* Fills the send buffer with the input of a pass. */
void input_fill(const struct task *task, const struct mode *mode, int pass);

/* Makes sure that nothing in the receive buffer is right. */
void output_poison(const struct task *task, const struct mode *mode, int pass);

/* Makes sure of the same once repetitions have run, and leaves caches as they are: each payload,
 * and each result, then has wrong bytes, but few. */
void output_mark(const struct task *task, const struct mode *mode, int pass);

/* Collective. Compares what arrived, or the result, and counts it at the point. */
void output_verify(const struct task *task, struct point *point, int pass);

#endif
