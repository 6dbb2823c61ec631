/* The message buffers: page-aligned, and checked against the memory that the host has. */
#ifndef SWITCHPOINT_BUFFERS_H
#define SWITCHPOINT_BUFFERS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "refusal.h"

/* Collective over `comm`. Allocates both buffers page-aligned and touches every page; free both
 * with free(). Refuses when the ranks of this host together need more than it has available. */
bool message_buffers(MPI_Comm comm, size_t send_bytes, size_t receive_bytes, unsigned char **send,
                     unsigned char **receive, struct refusal *refusal);

#endif
