/* Runs a kernel that chooses its own points, in place of the sweep. */
#ifndef SWITCHPOINT_EXPLORATION_H
#define SWITCHPOINT_EXPLORATION_H

#include <stdbool.h>

#include "session.h"

/* Whether the kernel can explore the modes and sizes that the user asked for; if not, it refuses.
 */
bool exploration_suits(struct session *session, struct refusal *refusal);

/* Collective. Replaces the plan's points by those that the kernel visits. False when the record
 * could not be written. */
bool explore_all(struct session *session);

#endif
