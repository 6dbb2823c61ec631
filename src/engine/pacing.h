/* What a bisection sets up before it compares sizes: blocks of equal length, and pauses where a
 * link throttles. */
#ifndef SWITCHPOINT_PACING_H
#define SWITCHPOINT_PACING_H

#include "search.h"

/* Collective. Gives the blocks of all sizes the same number of repetitions, since sizes that take
 * the same time would differ otherwise. As many repetitions warm up: the first ones of a block are
 * slower, above all after a visit to a size on the other side of a switch. */
void equal_blocks(struct explorer *explorer, struct search *search);

/* Collective. Finds out whether the link throttles, as a link behind a token bucket does, which
 * hides the time that a message takes by itself. If so, pauses before each timed block, until the
 * link has recovered. */
void pace(struct explorer *explorer, struct search *search);

#endif
