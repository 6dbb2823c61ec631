/* The ways in which MPI brings a message from one rank of a pair to the other. Of n ranks, i and
 * i + n/2 are a pair: the lower one sends, the higher one answers; all pairs do so at once. */
#ifndef SWITCHPOINT_PAIR_MODES_H
#define SWITCHPOINT_PAIR_MODES_H

#include "engine.h"

/* For an even number of ranks; ends with an entry without a name. */
extern const struct mode PAIR_MODES[];

#endif
