/* The clock that times blocks, its resolution, and the time of day. */
#ifndef SWITCHPOINT_CLOCK_H
#define SWITCHPOINT_CLOCK_H

#include <mpi.h>

struct clock_facts {
    double tick_ns;     /* as MPI documents it: MPI_Wtick */
    double step_ns;     /* smallest step seen between two readings */
    double overhead_ns; /* median cost of one reading */
};

/* Microseconds since some moment in the past. */
static inline double clock_us(void)
{
    return MPI_Wtime() * 1e6;
}

/* Measures the clock itself; takes about a millisecond. */
struct clock_facts clock_measure(void);

/* How far this rank's clock is ahead of rank 0's. */
struct clock_offset {
    double us;
    double error_us; /* the largest error of `us` */
};

/* Collective. Nearly exact on ranks that share rank 0's operating system; on others the error is
 * half of the shortest of several round trips (Cristian, Distributed Computing 3, 1989). */
struct clock_offset clock_offset_from_root(MPI_Comm comm);

enum { UTC_LENGTH = 32 };

/* The time of day as ISO 8601 with microseconds and Z. */
void clock_utc(char text[UTC_LENGTH]);

#endif
