/* The modes of a pair: the calls with which MPI can bring a message from one rank to the other. */
#ifndef SWITCHPOINT_PAIR_MODES_H
#define SWITCHPOINT_PAIR_MODES_H

#include "kernel.h"

/* For an even number of ranks, which pair.h pairs; ends with an entry without a name. */
extern const struct mode PAIR_MODES[];

#endif
