/* Timing bisection: between which two neighbouring sizes does the time jump? */
#ifndef SWITCHPOINT_BISECTION_H
#define SWITCHPOINT_BISECTION_H

#include "search.h"

/* Over so few bytes a curve's slope moves little: where the ends show no jump there is none between
 * them, and nothing is searched. */
enum { NARROW_BYTES = 64 };

/* Collective. Fills in the outcome of a search over low_bytes to high_bytes for a jump of the
 * mode's time, whatever its cause. Both ends and the middle are timed in turn, so that drift hits
 * all alike; the side of the middle is taken once enough turns agree, and taken back where what is
 * left shows no jump. The jump that is left in the end is timed twice more and must be at least 8
 * %. Where a link throttles, visits are paused, so that each message finds it rested. */
void bisect(struct explorer *explorer, struct search *search);

#endif
