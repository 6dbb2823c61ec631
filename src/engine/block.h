/* One timed block: its calls, each of which all ranks start together, and the times of the ranks.
 */
#ifndef SWITCHPOINT_BLOCK_H
#define SWITCHPOINT_BLOCK_H

#include "session.h"

/* Collective. Times the point's repetitions into a row of the visit's values, which is valid on
 * rank 0, and counts the point's late calls. `counted` gets the repetitions in that time, on all
 * ranks: all of them, unless calls that start late take far longer than a block should. Returns the
 * repetitions that ran, those of late calls too. Needs `agree_on_start`. */
long block_time(struct session *session, struct point *point, double *values_us, long *counted);

#endif
