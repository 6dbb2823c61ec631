/* How far the clocks of ranks under other operating systems are ahead of rank 0's. */
#include "clock_offset.h"

#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "memory.h"
#include "mpi_check.h"

enum { TAG = 0, TRIPS = 30 };

/* The most that the clocks of two machines drift apart: a crystal is off by 100 ppm at most. */
static const double DRIFT_MAX = 200e-6;

static struct clock_offset offset_in_tree(MPI_Comm comm, const int *leaders, int count, int place);
static void answer(MPI_Comm comm, int asking, struct clock_offset own);
static struct clock_offset ask(MPI_Comm comm, int reference);

struct clock_offset clock_offset_from_root(MPI_Comm comm, const int *kernels)
{
    int rank = 0;
    int ranks = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    MPI_CHECK(MPI_Comm_size(comm, &ranks));
    int *leaders = allocate((size_t)ranks, sizeof *leaders); /* one rank of each operating system */
    int count = 0;
    int place = -1; /* this rank's among the leaders */
    for (int i = 0; i < ranks; i++) {
        if (kernels[i] == i) {
            place = i == rank ? count : place;
            leaders[count++] = i;
        }
    }
    struct clock_offset offset = {0};
    if (count > 1) {
        if (place >= 0) {
            offset = offset_in_tree(comm, leaders, count, place);
        }
        struct clock_offset *offsets = allocate((size_t)ranks, sizeof *offsets);
        MPI_CHECK(MPI_Allgather(&offset, (int)sizeof offset, MPI_BYTE, offsets, (int)sizeof offset,
                                MPI_BYTE, comm));
        offset = offsets[kernels[rank]];
        free(offsets);
    }
    free(leaders);
    return offset;
}

struct clock_offset clock_offset_between(struct clock_offset before, struct clock_offset after,
                                         double at_us)
{
    const double length_us = after.at_us - before.at_us;
    const double part = length_us > 0 ? (at_us - before.at_us) / length_us : 0;
    return (struct clock_offset){
        .at_us = at_us,
        .us = before.us + part * (after.us - before.us),
        .error_us = fmax(before.error_us, after.error_us),
    };
}

/* From the longest step to the shortest: a leader that answers knows its own offset by then. */
static struct clock_offset offset_in_tree(MPI_Comm comm, const int *leaders, int count, int place)
{
    struct clock_offset offset = {0};
    int step = 1;
    while (2 * step < count) {
        step *= 2;
    }
    for (; step > 0; step /= 2) {
        if (place % (2 * step) == 0 && place + step < count) {
            answer(comm, leaders[place + step], offset);
        } else if (place % (2 * step) == step) {
            offset = ask(comm, leaders[place - step]);
        }
    }
    return offset;
}

/* Reports the time, and at last how far this rank's clock is ahead of rank 0's. */
static void answer(MPI_Comm comm, int asking, struct clock_offset own)
{
    for (int trip = 0; trip < TRIPS; trip++) {
        double now_us = 0;
        MPI_CHECK(MPI_Recv(&now_us, 1, MPI_DOUBLE, asking, TAG, comm, MPI_STATUS_IGNORE));
        now_us = clock_us();
        MPI_CHECK(MPI_Send(&now_us, 1, MPI_DOUBLE, asking, TAG, comm));
    }
    own.error_us += own.at_us > 0 ? DRIFT_MAX * (clock_us() - own.at_us) : 0;
    MPI_CHECK(MPI_Send(&own, (int)sizeof own, MPI_BYTE, asking, TAG, comm));
}

static struct clock_offset ask(MPI_Comm comm, int reference)
{
    struct clock_offset best = {.error_us = HUGE_VAL};
    for (int trip = 0; trip < TRIPS; trip++) {
        double there_us = 0;
        const double before_us = clock_us();
        MPI_CHECK(MPI_Send(&there_us, 1, MPI_DOUBLE, reference, TAG, comm));
        MPI_CHECK(MPI_Recv(&there_us, 1, MPI_DOUBLE, reference, TAG, comm, MPI_STATUS_IGNORE));
        const double after_us = clock_us();
        if ((after_us - before_us) / 2 < best.error_us) {
            best.at_us = (before_us + after_us) / 2;
            best.us = best.at_us - there_us;
            best.error_us = (after_us - before_us) / 2;
        }
    }
    struct clock_offset of_reference = {0};
    MPI_CHECK(MPI_Recv(&of_reference, (int)sizeof of_reference, MPI_BYTE, reference, TAG, comm,
                       MPI_STATUS_IGNORE));
    best.us += of_reference.us;
    best.error_us += of_reference.error_us;
    return best;
}
