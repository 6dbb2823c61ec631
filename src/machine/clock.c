/* The clock that times blocks, its resolution, and the time of day. */
#include "clock.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "memory.h"
#include "mpi_check.h"
#include "nodes.h"
#include "order.h"

enum { READINGS = 1000, ROUNDS = 11 };

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

/* Rank 0 and one other rank call it; the result of the other counts. */
static struct clock_offset offset_by_messages(MPI_Comm comm, int other)
{
    enum { TRIPS = 30, TAG = 0 };
    struct clock_offset best = {.error_us = HUGE_VAL};
    int rank = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    for (int trip = 0; trip < TRIPS; trip++) {
        double root_us = 0;
        if (rank == 0) {
            MPI_CHECK(MPI_Recv(&root_us, 1, MPI_DOUBLE, other, TAG, comm, MPI_STATUS_IGNORE));
            root_us = clock_us();
            MPI_CHECK(MPI_Send(&root_us, 1, MPI_DOUBLE, other, TAG, comm));
        } else {
            const double before = clock_us();
            MPI_CHECK(MPI_Send(&root_us, 1, MPI_DOUBLE, 0, TAG, comm));
            MPI_CHECK(MPI_Recv(&root_us, 1, MPI_DOUBLE, 0, TAG, comm, MPI_STATUS_IGNORE));
            const double after = clock_us();
            if ((after - before) / 2 < best.error_us) {
                best.us = (before + after) / 2 - root_us;
                best.error_us = (after - before) / 2;
            }
        }
    }
    return best;
}

struct clock_offset clock_offset_from_root(MPI_Comm comm)
{
    int rank = 0;
    int ranks = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    MPI_CHECK(MPI_Comm_size(comm, &ranks));
    int *kernels = allocate((size_t)ranks, sizeof *kernels);
    kernels_find(comm, kernels);

    struct clock_offset offset = {0};
    for (int other = 1; other < ranks; other++) {
        if (kernels[other] != 0 && rank == 0) {
            offset_by_messages(comm, other);
        } else if (kernels[other] != 0 && rank == other) {
            offset = offset_by_messages(comm, other);
        }
    }
    free(kernels);
    return offset;
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
