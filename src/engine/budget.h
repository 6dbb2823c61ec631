/* The time that a run may take. */
#ifndef SWITCHPOINT_BUDGET_H
#define SWITCHPOINT_BUDGET_H

#include <stdbool.h>

#include "session.h"

/* Starts the time of --time-budget. */
void budget_start(struct session *session);

/* Collective. Whether the run has used its time; it is then marked as shortened. */
bool budget_is_spent(struct session *session);

#endif
