/* The time that a run may take. */
#ifndef SWITCHPOINT_BUDGET_H
#define SWITCHPOINT_BUDGET_H

#include <stdbool.h>

#include "session.h"

/* Starts the time of --time-budget. */
void budget_start(struct session *session);

/* Collective. Whether less time is left than the next step is expected to take, by rank 0's
 * estimate; the run is then marked as shortened. */
bool budget_is_spent(struct session *session, double expected_us);

/* Collective. How many of `count` steps of `each_us` the time has room for, by rank 0's estimate;
 * at least one. With less than all of them, the run is marked as shortened. */
long budget_fits(struct session *session, long count, double each_us);

#endif
