/* The sweep: passes over all points, each pass in an order of its own. */
#ifndef SWITCHPOINT_SWEEP_H
#define SWITCHPOINT_SWEEP_H

#include <stdbool.h>

#include "session.h"

/* Collective. Measures the plan until its passes are complete, all medians are as precise as asked
 * for, or the time budget is spent. False when the record could not be written. */
bool sweep(struct session *session);

#endif
