/* The message buffers: where in a page the user wants them, if the host has memory for them. */
#ifndef SWITCHPOINT_BUFFERS_H
#define SWITCHPOINT_BUFFERS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "refusal.h"

/* Collective over `comm`. Allocates both buffers, `offset_bytes` after the start of a page, and
 * touches every page; free each with message_buffer_free. Refuses when the ranks of this host
 * together need more than it has available. */
bool message_buffers(MPI_Comm comm, size_t send_bytes, size_t receive_bytes, size_t offset_bytes,
                     unsigned char **send, unsigned char **receive, struct refusal *refusal);

/* `buffer` may be NULL. */
void message_buffer_free(unsigned char *buffer, size_t offset_bytes);

#endif
