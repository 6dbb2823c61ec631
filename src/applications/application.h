/* What all applications have in common: a problem on rank 0 and its result there, time spent in
 * three phases, and a serial mode in which rank 0 works alone. */
#ifndef SWITCHPOINT_APPLICATION_H
#define SWITCHPOINT_APPLICATION_H

#include "engine.h"

enum phase {
    COMPUTE,
    EXCHANGE,  /* what the algorithm sends, and waiting for it */
    DISTRIBUTE /* dealing out the problem from rank 0, and collecting the result there */
};

/* A lap belongs to a phase, and the next begins where it ends. */
struct stopwatch {
    double since; /* as MPI_Wtime has it */
};
struct stopwatch stopwatch_start(void);
void lap(struct stopwatch *watch, const struct task *t, enum phase phase);

/* For parallel modes: `work` on every rank, once for each iteration. It laps its phases itself. */
void run_on_all(const struct task *t, long iterations, void (*work)(const struct task *));

/* For serial modes, which are `at_root`: `work` on rank 0, once for each iteration, as computing.
 * The others sleep meanwhile, since spinning in MPI they would take the cores from it. */
void run_on_root(const struct task *t, long iterations, void (*work)(const struct task *));

/* For `send_bytes`: `size_bytes` of input on rank 0, none elsewhere. */
size_t input_on_root(const struct task *t);

/* The engine's main, for a kernel that leaves to it what all applications have in common: ranks
 * from 1 on, the time of the slowest of them, and the phases. */
int application_main(int argc, char **argv, struct kernel application);

#endif
