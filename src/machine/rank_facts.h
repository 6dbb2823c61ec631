/* Where each rank really runs: host, CPUs, operating system, network; gathered on rank 0. */
#ifndef SWITCHPOINT_RANK_FACTS_H
#define SWITCHPOINT_RANK_FACTS_H

#include <mpi.h>
#include <stdbool.h>

#include "json.h"
#include "mpi_counters.h"

/* Collective. Writes an array on rank 0, with an object for each rank: where it runs, and its
 * conditions as `before`. */
void ranks_write_before(MPI_Comm comm, struct json *json, const char *key);

/* Collective. Writes an array on rank 0, with an object for each rank: its number, its conditions
 * as `after`, unless `counters` is NULL what the MPI library has counted, if UCX was asked its
 * protocols, and its endpoints. */
void ranks_write_after(MPI_Comm comm, struct json *json, const char *key,
                       const struct mpi_counters *counters, bool ucx_asked);

#endif
