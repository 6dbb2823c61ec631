/* Decisions that rank 0 takes for all ranks. */
#include "agreement.h"

#include <stdint.h>

#include "abort_job.h"
#include "exit_codes.h"
#include "mpi_check.h"

static _Noreturn void abort_changed(MPI_Comm comm);

long root_number(MPI_Comm comm, long number)
{
    long both[] = {number, ~number};
    MPI_CHECK(MPI_Bcast(both, 2, MPI_LONG, 0, comm));
    if (both[0] != ~both[1]) {
        abort_changed(comm);
    }
    return both[0];
}

void ranks_have_the_same(MPI_Comm comm, const void *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    }
    const uint64_t both[] = {hash, ~hash};
    uint64_t most[2] = {0};
    MPI_CHECK(MPI_Allreduce(both, most, 2, MPI_UINT64_T, MPI_MAX, comm));
    if (most[0] != ~most[1]) {
        abort_changed(comm);
    }
}

static _Noreturn void abort_changed(MPI_Comm comm)
{
    abort_job(
        comm, EXIT_WRONG,
        "switchpoint: a number that rank 0 sent to all ranks was changed on its way; look for "
        "the faulty network or memory, and measure again");
}

bool root_says(MPI_Comm comm, bool answer)
{
    return root_number(comm, answer ? 1 : 0) != 0;
}
