/* How far the clocks of ranks under other operating systems are ahead of rank 0's. */
#ifndef SWITCHPOINT_CLOCK_OFFSET_H
#define SWITCHPOINT_CLOCK_OFFSET_H

#include <mpi.h>

/* How far this rank's clock was ahead of rank 0's at one moment. */
struct clock_offset {
    double at_us; /* the moment, on this rank's clock */
    double us;
    double error_us; /* the largest error of `us` */
};

/* Collective. Exact on ranks that share rank 0's operating system, where no message is sent. Of
 * each other operating system one rank compares its clock, in a tree: the number of rounds is that
 * of the doublings up to their number, as in the HCA algorithm (Hunold and Carpen-Amarie, IEEE
 * Cluster 2015). In each round the error is half of the shortest of several round trips (Cristian,
 * Distributed Computing 3, 1989), and the errors of all rounds up to a rank add up. Each has a
 * moment of its own, since clocks drift.
 *
 * `kernels` has for each rank the lowest rank under the same operating system, see `kernels_find`.
 */
struct clock_offset clock_offset_from_root(MPI_Comm comm, const int *kernels);

/* At a moment between two comparisons, since clocks drift meanwhile. */
struct clock_offset clock_offset_between(struct clock_offset before, struct clock_offset after,
                                         double at_us);

#endif
