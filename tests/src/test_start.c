/* Ranks whose clocks drift apart start a call together, within the error that they record. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "clock.h"
#include "drifting_clock.h"
#include "nodes.h"
#include "start.h"

enum { RANKS_MAX = 8 };

/* How far a start is from rank 0's, by the clock that all share. */
static double apart_us(struct start *start, const int *kernels)
{
    start_prepare(MPI_COMM_WORLD, kernels, start);
    const double own_us = true_us(start_together(MPI_COMM_WORLD, start));
    double of_root_us = own_us;
    MPI_Bcast(&of_root_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return fabs(own_us - of_root_us);
}

static void starts_are_as_far_apart_as_the_error_at_most(const int *kernels)
{
    static const struct timespec A_WHILE = {.tv_nsec = 20000000};
    struct start start = {.delay_us = 0};
    double most_us = 0;
    for (int i = 0; i < 20; i++) {
        most_us = fmax(most_us, apart_us(&start, kernels));
        CHECK(most_us <= start.clock_error_us);
        nanosleep(&A_WHILE, NULL);
    }
    printf("most apart %.3f us, error %.3f us\n", most_us, start.clock_error_us);
}

/* A sweep of slow messages, or an exploration, starts nothing for a second. */
static void after_a_pause_too(const int *kernels)
{
    static const struct timespec A_SECOND = {.tv_sec = 1};
    struct start start = {.delay_us = 0};
    start_prepare(MPI_COMM_WORLD, kernels, &start);
    nanosleep(&A_SECOND, NULL);
    CHECK(apart_us(&start, kernels) <= start.clock_error_us);
}

int main(int argc, char **argv)
{
    int ranks = 0;
    int kernels[RANKS_MAX] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    kernels_find(MPI_COMM_WORLD, kernels);
    CHECK(ranks <= RANKS_MAX && kernels[ranks - 1] == ranks - 1);
    starts_are_as_far_apart_as_the_error_at_most(kernels);
    after_a_pause_too(kernels);
    MPI_Finalize();
    return check_result();
}
