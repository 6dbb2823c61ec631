/* Timing bisection: between which two neighbouring sizes does the time jump? */
#ifndef SWITCHPOINT_BISECTION_H
#define SWITCHPOINT_BISECTION_H

#include "search.h"

/* Collective. Fills in the outcome of a search over low_bytes to high_bytes for a jump of the
 * mode's time, whatever its cause. Both ends and the middle are timed in turn, so that drift hits
 * all alike; the side of the middle is decided once enough turns agree. The jump that is left in
 * the end is timed again and must be at least 8 %. */
void bisect(struct explorer *explorer, struct search *search);

#endif
