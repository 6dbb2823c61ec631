/* The clock that times blocks, its resolution, and the time of day. */
#ifndef SWITCHPOINT_CLOCK_H
#define SWITCHPOINT_CLOCK_H

#include <mpi.h>

struct clock_facts {
    double tick_ns;     /* as the system documents it: clock_getres */
    double step_ns;     /* smallest step seen between two readings */
    double overhead_ns; /* median cost of one reading */
};

/* The system's raw clock. MPI_Wtime is the time of day in some libraries, which jumps when somebody
 * sets it, and seconds since 1970 in a double have steps of 0.2 us. NTP changes the rate of
 * CLOCK_MONOTONIC. All processes under one operating system share the raw clock. */
#define CLOCK_SOURCE CLOCK_MONOTONIC_RAW
extern const char CLOCK_SOURCE_NAME[];

/* Microseconds since some moment in the past. */
double clock_us(void);

/* Measures the clock itself; takes about a millisecond. */
struct clock_facts clock_measure(void);

/* How far this rank's clock is ahead of rank 0's. */
struct clock_offset {
    double us;
    double error_us; /* the largest error of `us` */
};

/* Collective. Exact on ranks that share rank 0's operating system; on others the error is half of
 * the shortest of several round trips (Cristian, Distributed Computing 3, 1989). */
struct clock_offset clock_offset_from_root(MPI_Comm comm);

enum { UTC_LENGTH = 32 };

/* The time of day as ISO 8601 with microseconds and Z. */
void clock_utc(char text[UTC_LENGTH]);

#endif
