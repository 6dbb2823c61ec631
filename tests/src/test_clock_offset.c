/* Comparing the clocks of many operating systems, on ranks whose clocks differ by an hour each. */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "clock_offset.h"

static const double HOUR_US = 3600e6;

static int hours_ahead;
static bool *asked; /* by rank: whether it sent a message to this rank */

int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
    const int code = (int)syscall(SYS_clock_gettime, clock_id, tp);
    tp->tv_sec += 3600L * hours_ahead;
    return code;
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    asked[from] = true;
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}

static int partners(int ranks)
{
    int count = 0;
    for (int rank = 0; rank < ranks; rank++) {
        count += asked[rank];
        asked[rank] = false;
    }
    return count;
}

/* As many hours ahead as rank 0 would be behind. */
static void check_offset(struct clock_offset offset, int hours)
{
    CHECK(offset.error_us < HOUR_US / 10);
    CHECK(fabs(offset.us - hours * HOUR_US) <= offset.error_us);
}

static void every_system_has_its_own_clock(int rank, int ranks)
{
    int *kernels = calloc((size_t)ranks, sizeof *kernels);
    for (int i = 0; i < ranks; i++) {
        kernels[i] = i;
    }
    hours_ahead = rank;
    check_offset(clock_offset_from_root(MPI_COMM_WORLD, kernels), rank);
    /* Seven ranks in a tree: rank 0 answers ranks 4, 2 and 1. */
    CHECK(partners(ranks) == (rank == 0 ? 3 : rank == 4 ? 3 : rank == 2 ? 2 : 1));
    free(kernels);
}

static void ranks_of_one_system_share_a_comparison(int rank, int ranks)
{
    int *kernels = calloc((size_t)ranks, sizeof *kernels);
    for (int i = 0; i < ranks; i++) {
        kernels[i] = i < 3 ? 0 : 3;
    }
    hours_ahead = kernels[rank];
    check_offset(clock_offset_from_root(MPI_COMM_WORLD, kernels), kernels[rank]);
    CHECK(partners(ranks) == (rank == 0 || rank == 3 ? 1 : 0));
    free(kernels);
}

static void one_system_needs_no_message(int rank, int ranks)
{
    int *kernels = calloc((size_t)ranks, sizeof *kernels);
    hours_ahead = 0;
    const struct clock_offset offset = clock_offset_from_root(MPI_COMM_WORLD, kernels);
    CHECK(offset.us == 0 && offset.error_us == 0);
    CHECK(partners(ranks) == 0);
    (void)rank;
    free(kernels);
}

int main(int argc, char **argv)
{
    int rank = 0;
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    asked = calloc((size_t)ranks, sizeof *asked);
    every_system_has_its_own_clock(rank, ranks);
    ranks_of_one_system_share_a_comparison(rank, ranks);
    one_system_needs_no_message(rank, ranks);
    free(asked);
    MPI_Finalize();
    return check_result();
}
