/* PVM between two ranks that MPI has started: each enrols with the PVM daemon of its node.
 * A PVM call that fails ends the job with one line that names it. */
#ifndef SWITCHPOINT_PVM_LINK_H
#define SWITCHPOINT_PVM_LINK_H

#include <mpi.h>
#include <stdbool.h>

#include "refusal.h"

/* Collective; the same answer on every rank. Refuses when a rank's node has no PVM daemon, or when
 * the daemons do not belong to one virtual machine. */
bool pvm_link_available(MPI_Comm comm, struct refusal *refusal);

/* The route of the messages: from daemon to daemon, or over a TCP connection between the tasks. */
enum pvm_link_route { PVM_LINK_THROUGH_DAEMONS, PVM_LINK_DIRECT };

/* Collective over two ranks. Enrols; returns the peer's task identifier. */
int pvm_link_open(MPI_Comm comm, enum pvm_link_route route);

/* Collective. Leaves the virtual machine and closes every connection. */
void pvm_link_close(MPI_Comm comm);

void pvm_link_send(int peer, unsigned char *message, int bytes);
void pvm_link_receive(int peer, unsigned char *message, int bytes);

#endif
