/* The clock that times blocks, what it can tell apart, and the time of day. */
#ifndef SWITCHPOINT_CLOCK_H
#define SWITCHPOINT_CLOCK_H

#include <mpi.h>

struct clock_facts {
    double tick_ns;     /* as MPI documents it: MPI_Wtick */
    double step_ns;     /* smallest step seen between two readings */
    double overhead_ns; /* median cost of one reading */
};

/* Microseconds since some past moment. */
static inline double clock_us(void)
{
    return MPI_Wtime() * 1e6;
}

/* Measures the clock itself; takes about a millisecond. */
struct clock_facts clock_measure(void);

/* How far this rank's clock is ahead of rank 0's. */
struct clock_offset {
    double us;
    double error_us; /* it is off by this at most */
};

/* Collective. Exact on ranks that share rank 0's operating system; elsewhere half of the shortest
 * of some round trips is the error (Cristian, Distributed Computing 3, 1989). */
struct clock_offset clock_offset_from_root(MPI_Comm comm);

enum { UTC_LENGTH = 32 };

/* The time of day as ISO 8601 with microseconds and Z. */
void clock_utc(char text[UTC_LENGTH]);

#endif
