/* Starts at an agreed time: all ranks start a call together. A call that a rank starts late is
 * repeated (round-time synchronisation: Hunold and Carpen-Amarie, EuroMPI 2018). */
#ifndef SWITCHPOINT_START_H
#define SWITCHPOINT_START_H

#include <mpi.h>
#include <stdbool.h>

#include "clock_model.h"

struct start {
    struct clock_model clock;
    double compared_us;    /* when clocks were compared last; 0: never */
    double clock_error_us; /* the most that a start may have been off because of them */
    double delay_us;       /* that an announcement usually takes to the last rank */
    double heard_after_us; /* what the last one took to this rank */
    bool late;             /* this rank was late for the last start */
    bool was_late;         /* some rank was late for the start before */
};

/* Collective. Compares the clocks, if that was some time ago. `kernels` has for each rank the
 * lowest rank under the same operating system. */
void start_prepare(MPI_Comm comm, const int *kernels, struct start *start);

/* Collective. Waits for the agreed time, which may have passed already. Returns it in us, on this
 * rank's clock. */
double start_together(MPI_Comm comm, struct start *start);

/* Collective. Whether any rank was late for the last start. Learns how long before a start the next
 * ones have to be announced. `enough` says whether this rank has measured for long enough, and
 * then whether any rank has. */
bool start_was_late(MPI_Comm comm, struct start *start, bool *enough);

#endif
