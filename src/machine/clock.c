/* The clock that times blocks, its resolution, and the time of day. */
#include "clock.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "abort_job.h"
#include "exit_codes.h"
#include "order.h"

#ifdef SWITCHPOINT_SIMULATED
enum { READINGS = 10 }; /* all take the same time, and each is a step of the simulation */
#else
enum { READINGS = 1000 };
#endif
enum { ROUNDS = 11 };

const char CLOCK_SOURCE_NAME[] = "CLOCK_MONOTONIC_RAW";

/* No time that was measured before or will be measured after can be believed then. */
static _Noreturn void went_back(double by_us)
{
    abort_job(
        MPI_COMM_WORLD, EXIT_WRONG,
        "switchpoint: the clock %s went back by %.3f us: the times are wrong; see `dmesg` for "
        "the clock source of this machine",
        CLOCK_SOURCE_NAME, by_us);
}

double clock_us(void)
{
    static double last_us;
    struct timespec now;
    clock_gettime(CLOCK_SOURCE, &now);
    const double now_us = (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
    if (now_us < last_us) {
        went_back(last_us - now_us);
    }
    last_us = now_us;
    return now_us;
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
