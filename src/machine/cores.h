/* Whether the ranks have a core each. */
#ifndef SWITCHPOINT_CORES_H
#define SWITCHPOINT_CORES_H

#include <mpi.h>
#include <stdbool.h>

/* Collective. Whether the ranks under each running operating system may use at least as many cores
 * as there are ranks; the same answer on every rank. */
bool cores_suffice(MPI_Comm comm);

#endif
