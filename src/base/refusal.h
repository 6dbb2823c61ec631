/* Bad input: one line that names the option and says what would work; all ranks agree on it. */
#ifndef SWITCHPOINT_REFUSAL_H
#define SWITCHPOINT_REFUSAL_H

#include <mpi.h>
#include <stdbool.h>

/* Why the run cannot go on; empty while it can go on. */
struct refusal {
    char text[512];
};

/* Stores the reason as one line, unless there is one already. Returns false, so that a check can
 * end with `return refuse(...)`. */
bool refuse(struct refusal *refusal, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Collective. True on every rank when any rank has a reason; rank 0 then prints the reason of the
 * lowest such rank on stderr. */
bool refused_anywhere(MPI_Comm comm, const char *program, const struct refusal *refusal);

#endif
