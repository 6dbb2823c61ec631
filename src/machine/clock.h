/* The clock that times blocks, its resolution, and the time of day. */
#ifndef SWITCHPOINT_CLOCK_H
#define SWITCHPOINT_CLOCK_H

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

/* Microseconds since some moment in the past. Ends the job if the clock went back. */
double clock_us(void);

/* Measures the clock itself; takes about a millisecond. */
struct clock_facts clock_measure(void);

enum { UTC_LENGTH = 32 };

/* The time of day as ISO 8601 with microseconds and Z. */
void clock_utc(char text[UTC_LENGTH]);

#endif
