/* Memory: small allocations that end the job when they fail, and the message buffers, which are
 * checked against what the host has before they are touched. */
#ifndef SWITCHPOINT_MEMORY_H
#define SWITCHPOINT_MEMORY_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "refusal.h"

/* `count` zeroed elements of `size` bytes; never NULL, aborts the job when memory is out. */
void *allocate(size_t count, size_t size);

/* Grows a block to `bytes`; never NULL, aborts the job when memory is out. */
void *reallocate(void *block, size_t bytes);

/* Collective over `comm`. Page-aligned buffers, every page touched, both freed with free().
 * Refuses when the ranks of this host together need more than it has available. */
bool message_buffers(MPI_Comm comm, size_t send_bytes, size_t receive_bytes, unsigned char **send,
                     unsigned char **receive, struct refusal *refusal);

#endif
