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

enum { UTC_LENGTH = 32 };

/* The time of day as ISO 8601 with microseconds and Z. */
void clock_utc(char text[UTC_LENGTH]);

#endif
