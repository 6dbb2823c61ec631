/* Ends the whole job with one line that says why. */
#ifndef SWITCHPOINT_ABORT_JOB_H
#define SWITCHPOINT_ABORT_JOB_H

#include <mpi.h>

/* Prints a line (as printf, without its end) on stderr, and aborts the job with an exit code. */
_Noreturn void abort_job(MPI_Comm comm, int exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
