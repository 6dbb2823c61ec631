/* Timing bisection: between which two neighbouring sizes does the time jump? */
#ifndef SWITCHPOINT_BISECTION_H
#define SWITCHPOINT_BISECTION_H

#include "search.h"

/* Collective. Searches from low_bytes to high_bytes for a jump of the mode's time, whatever its
 * cause, and fills in the outcome. It times both ends and the middle in turn, so that drift affects
 * all of them. It takes the side of the middle once enough turns agree, and goes back where
 * what is left shows no jump. In the end it times the jump twice more, which must be at least 8 %.
 * A search that is not complete after `most_ms` takes no further turns: one that takes longer is
 * unlikely to end well. Where the run has used its time budget, the outcome stays open. Where a
 * link throttles, it pauses before each visit, so that the link has recovered. */
void bisect(struct explorer *explorer, struct search *search, long most_ms);

#endif
