/* Runs a kernel that chooses its own points, in place of the sweep. */
#ifndef SWITCHPOINT_EXPLORER_H
#define SWITCHPOINT_EXPLORER_H

#include <stdint.h>

#include "engine.h"
#include "measure.h"
#include "options.h"
#include "plan.h"
#include "record.h"

/* Collective. Replaces the plan's points by those that the kernel visits. Returns the payload bytes
 * that arrived at this rank. */
int64_t explore_all(const struct kernel *kernel, const struct options *options, struct task *task,
                    struct plan *plan, struct visit *visit, struct record *record);

#endif
