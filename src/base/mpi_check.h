/* An error of an MPI call ends the job with one line that names the call and MPI's reason. */
#ifndef SWITCHPOINT_MPI_CHECK_H
#define SWITCHPOINT_MPI_CHECK_H

#include <mpi.h>

/* Wraps a call on a communicator whose error handler is MPI_ERRORS_RETURN. */
#define MPI_CHECK(call)                                                                            \
    do {                                                                                           \
        const int mpi_check_code = (call);                                                         \
        if (mpi_check_code != MPI_SUCCESS) {                                                       \
            mpi_fail(#call, mpi_check_code);                                                       \
        }                                                                                          \
    } while (0)

/* Prints the call's name and MPI's error message, then aborts the job with exit code 3. */
_Noreturn void mpi_fail(const char *call, int code);

#endif
