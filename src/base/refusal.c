/* Bad input: one line on rank 0, the same verdict on every rank. */
#include "refusal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpi_check.h"

bool refuse(struct refusal *refusal, const char *format, ...)
{
    if (refusal->text[0] != '\0') {
        return false;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(refusal->text, sizeof refusal->text, format, arguments);
    va_end(arguments);
    /* The text may quote the command line, where a control character would break the line. */
    for (char *c = refusal->text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == '\x7f') {
            *c = '?';
        }
    }
    return false;
}

bool refused_anywhere(MPI_Comm comm, const char *program, const struct refusal *refusal)
{
    int rank = 0;
    int ranks = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    MPI_CHECK(MPI_Comm_size(comm, &ranks));

    const int mine = refusal->text[0] != '\0' ? rank : ranks;
    int first = ranks;
    MPI_CHECK(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
    if (first == ranks) {
        return false;
    }
    struct refusal reason = *refusal;
    MPI_CHECK(MPI_Bcast(reason.text, sizeof reason.text, MPI_CHAR, first, comm));
    if (rank == 0) {
        fprintf(stderr, "%s: %s\n", program, reason.text);
    }
    return true;
}
