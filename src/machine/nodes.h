/* Which ranks share a node, and which share a running operating system. */
#ifndef SWITCHPOINT_NODES_H
#define SWITCHPOINT_NODES_H

#include <mpi.h>

enum { NODE_NAME_LENGTH = 256 };

/* The host name of this rank's node; of its simulated host where ranks are simulated. */
void node_name(char name[NODE_NAME_LENGTH]);

/* Collective. Sets for each rank of `comm` the lowest rank on the same node: same host name, same
 * running operating system, same network namespace. */
void nodes_find(MPI_Comm comm, int *nodes);

/* Collective. Sets for each rank the lowest rank under the same running operating system, whose
 * clock it shares; its own number where the system does not say. */
void kernels_find(MPI_Comm comm, int *kernels);

#endif
