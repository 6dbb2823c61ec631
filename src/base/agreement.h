/* Decisions that rank 0 takes for all ranks. */
#ifndef SWITCHPOINT_AGREEMENT_H
#define SWITCHPOINT_AGREEMENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Collective. Returns rank 0's number on every rank. If it was changed on its way, the job ends:
 * ranks that measure different points wait for each other for ever. */
long root_number(MPI_Comm comm, long number);

/* Collective. Ends the job if not all ranks have the same bytes, which they received. */
void ranks_have_the_same(MPI_Comm comm, const void *bytes, size_t size);

/* Collective. Returns rank 0's answer on every rank, as `root_number`. */
bool root_says(MPI_Comm comm, bool answer);

#endif
