/* What the MPI library counts: its performance variables, read through MPI_T. */
#ifndef SWITCHPOINT_MPI_COUNTERS_H
#define SWITCHPOINT_MPI_COUNTERS_H

#include <stdbool.h>

#include "json.h"
#include "refusal.h"

struct mpi_counters; /* on this rank */

/* Starts the performance variables of these names, separated by commas. NULL where the library has
 * no counter of one of the names: then it refuses and says which ones it has. Never all at once:
 * Open MPI crashes where one of a component that is not in use is read. */
struct mpi_counters *mpi_counters_start(const char *names, struct refusal *refusal);

/* Writes an object of what each has counted since. */
void mpi_counters_write(struct json *json, const char *key, const struct mpi_counters *counters);

void mpi_counters_free(struct mpi_counters *counters); /* or of NULL */

#endif
