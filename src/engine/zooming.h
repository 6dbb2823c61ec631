/* Finds switches to the byte within brackets, and times algorithms where one is found. */
#ifndef SWITCHPOINT_ZOOMING_H
#define SWITCHPOINT_ZOOMING_H

#include <stdbool.h>

#include "brackets.h"
#include "explorer.h"
#include "findings.h"

/* Whether a chosen mode searches each bracket, and its sizes suit; if not, it refuses. */
bool zoom_suits(const struct explorer *explorer, struct refusal *refusal);

/* Collective. Adds a search between two sizes and conducts it as `how` does, which fills in the
 * outcome. Valid until the next one is added. */
struct search *zoom_conduct(struct explorer *explorer, const struct mode *mode, int low_bytes,
                            int high_bytes,
                            void (*how)(struct explorer *explorer, struct search *search));

/* Collective. Bisects between two sizes. Where a switch is found and the library's algorithms are
 * among the modes, it times them on both sides of the switch, in turn with the mode itself. */
struct search *zoom_between(struct explorer *explorer, const struct mode *mode, int low_bytes,
                            int high_bytes);

/* Collective. Searches the brackets that name the mode, and those that name none. */
void zoom_brackets(struct explorer *explorer, const struct mode *mode);

/* Collective. Searches all brackets. */
void zoom_all(struct explorer *explorer);

#endif
