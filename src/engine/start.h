/* Round-time synchronisation: all ranks start a block at one agreed time, and one that some rank
 * started late is thrown away (Hunold and Carpen-Amarie, EuroMPI 2018). */
#ifndef SWITCHPOINT_START_H
#define SWITCHPOINT_START_H

#include <mpi.h>
#include <stdbool.h>

struct start {
    double ahead_us;       /* of this rank's clock, of rank 0's */
    double clock_error_us; /* by which that may be off, at most so far */
    double lead_us;        /* from the announcement of a start to the start */
    bool late;             /* this rank, at the last start */
};

/* Collective. Compares the clocks again; they drift. */
void start_prepare(MPI_Comm comm, struct start *start);

/* Collective. Returns at the agreed time, or at once when that has passed: the agreed time on this
 * rank's clock in us. */
double start_together(MPI_Comm comm, struct start *start);

/* Collective. Whether any rank came late to the last start; the next one is then announced earlier.
 */
bool start_was_late(MPI_Comm comm, struct start *start);

#endif
