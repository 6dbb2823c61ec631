/* Whether the ranks have a core each. */
#ifndef SWITCHPOINT_CORES_H
#define SWITCHPOINT_CORES_H

#include <mpi.h>
#include <stdbool.h>

/* Collective. Whether the ranks under each running operating system can have a core each, of those
 * that they may use; the same answer on every rank. */
bool cores_suffice(MPI_Comm comm);

#endif
