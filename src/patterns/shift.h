/* Shifts: each rank addresses the rank at a distance, around the ring of all ranks. */
#ifndef SWITCHPOINT_SHIFT_H
#define SWITCHPOINT_SHIFT_H

/* The rank at a distance from -ranks to ranks: ahead for positive distances, behind for negative
 * ones. */
static inline int shifted(int rank, int ranks, int distance)
{
    return (rank + distance + ranks) % ranks;
}

#endif
