/* Decisions that rank 0 takes for all ranks. */
#ifndef SWITCHPOINT_AGREEMENT_H
#define SWITCHPOINT_AGREEMENT_H

#include <mpi.h>
#include <stdbool.h>

/* Collective. Returns rank 0's answer on every rank. */
bool root_says(MPI_Comm comm, bool answer);

#endif
