/* Where each rank really is: host, CPUs, kernel, network; gathered on rank 0. */
#ifndef SWITCHPOINT_RANK_FACTS_H
#define SWITCHPOINT_RANK_FACTS_H

#include <mpi.h>

#include "json.h"

/* Collective. Writes an array on rank 0, one object per rank: where it is, and `before`. */
void ranks_write_before(MPI_Comm comm, struct json *json, const char *key);

/* Collective. Writes an array on rank 0, one object per rank: its number, and `after`. */
void ranks_write_after(MPI_Comm comm, struct json *json, const char *key);

#endif
