/* Ends the whole job with one line that says why. */
#include "abort_job.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

_Noreturn void abort_job(MPI_Comm comm, int exit_code, const char *format, ...)
{
    char line[MPI_MAX_ERROR_STRING + 200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s\n", line); /* one write, so that the lines of several ranks do not mix */
    /* MPICH's mpiexec may end before it has passed on what a rank wrote just before it aborted. */
    const struct timespec moment = {.tv_nsec = 500000000};
    nanosleep(&moment, NULL);
    MPI_Abort(comm, exit_code);
    exit(exit_code);
}
