/* Round-time synchronisation: all ranks start a block at an agreed time. A block that a rank starts
 * late does not count (Hunold and Carpen-Amarie, EuroMPI 2018). */
#ifndef SWITCHPOINT_START_H
#define SWITCHPOINT_START_H

#include <mpi.h>
#include <stdbool.h>

struct start {
    double ahead_us;       /* by how much this rank's clock is ahead of rank 0's */
    double clock_error_us; /* the largest error of `ahead_us` so far */
    double lead_us;        /* from the announcement of a start to the start */
    bool late;             /* this rank was late for the last start */
};

/* Collective. Compares the clocks again, since they drift. */
void start_prepare(MPI_Comm comm, struct start *start);

/* Collective. Waits for the agreed time, which may have passed already. Returns it in us, on this
 * rank's clock. */
double start_together(MPI_Comm comm, struct start *start);

/* Collective. Whether any rank was late for the last start; the next start is then announced
 * earlier. */
bool start_was_late(MPI_Comm comm, struct start *start);

#endif
