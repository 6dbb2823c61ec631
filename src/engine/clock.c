/* The clock that times blocks, what it can tell apart, and the time of day. */
#include "clock.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { READINGS = 1000, ROUNDS = 11 };

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

struct clock_facts clock_measure(void)
{
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
    qsort(cost_us, ROUNDS, sizeof cost_us[0], ascending);
    return (struct clock_facts){
        .tick_ns = MPI_Wtick() * 1e9,
        .step_ns = smallest_us * 1e3,
        .overhead_ns = cost_us[ROUNDS / 2] * 1e3,
    };
}

void clock_utc(char text[UTC_LENGTH])
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    const size_t length = strftime(text, UTC_LENGTH, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + length, UTC_LENGTH - length, ".%06ldZ", now.tv_nsec / 1000);
}
