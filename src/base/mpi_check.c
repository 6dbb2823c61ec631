/* Ends the job on an MPI error. */
#include "mpi_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_MPI_ERROR = 3 };

_Noreturn void mpi_fail(const char *call, int code)
{
    char reason[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    int rank = -1;
    MPI_Error_string(code, reason, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    reason[strcspn(reason, "\n")] = '\0';
    fprintf(stderr, "switchpoint: rank %d: %.*s failed: %s\n", rank, (int)strcspn(call, "("), call,
            reason);
    /* MPICH's mpiexec may end before it has passed on what a rank wrote just before it aborted. */
    const struct timespec moment = {.tv_nsec = 200000000};
    nanosleep(&moment, NULL);
    MPI_Abort(MPI_COMM_WORLD, EXIT_MPI_ERROR);
    exit(EXIT_MPI_ERROR);
}
