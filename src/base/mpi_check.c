/* Ends the job on an MPI error. */
#include "mpi_check.h"

#include <string.h>

#include "abort_job.h"
#include "exit_codes.h"

_Noreturn void mpi_fail(const char *call, int code)
{
    char reason[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    int rank = -1;
    MPI_Error_string(code, reason, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    reason[strcspn(reason, "\n")] = '\0';
    abort_job(MPI_COMM_WORLD, EXIT_MPI_ERROR, "switchpoint: rank %d: %.*s failed: %s", rank,
              (int)strcspn(call, "("), call, reason);
}
