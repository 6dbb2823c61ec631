/* The clock that times blocks, its resolution, and the time of day. */
#include "clock.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "order.h"

#ifdef SWITCHPOINT_SIMULATED
enum { READINGS = 10 }; /* all take the same time, and each is a step of the simulation */
#else
enum { READINGS = 1000 };
#endif
enum { ROUNDS = 11 };

const char CLOCK_SOURCE_NAME[] = "CLOCK_MONOTONIC_RAW";

double clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_SOURCE, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

struct clock_facts clock_measure(void)
{
    struct timespec tick = {0};
    clock_getres(CLOCK_SOURCE, &tick);
    double smallest_us = DBL_MAX;
    double cost_us[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        const double start = clock_us();
        double before = start;
        for (int i = 0; i < READINGS; i++) {
            const double now = clock_us();
            if (now > before && now - before < smallest_us) {
                smallest_us = now - before;
            }
            before = now;
        }
        cost_us[round] = (before - start) / READINGS;
    }
    return (struct clock_facts){
        .tick_ns = (double)tick.tv_nsec,
        .step_ns = smallest_us * 1e3,
        .overhead_ns = median_of(cost_us, ROUNDS) * 1e3,
    };
}

void clock_utc(char text[UTC_LENGTH])
{
    struct timespec now;
    struct tm parts;
    /* The system's own function: SimGrid's macro of this name gives a simulated time, which begins
     * in 1970. */
    (clock_gettime)(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    const size_t length = strftime(text, UTC_LENGTH, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + length, UTC_LENGTH - length, ".%06ldZ", now.tv_nsec / 1000);
}
