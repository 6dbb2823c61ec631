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

#endif
