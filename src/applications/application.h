/* What all applications have in common: a problem on rank 0 and its result there, time in three
 * phases, and a serial mode in which rank 0 works alone. */
#ifndef SWITCHPOINT_APPLICATION_H
#define SWITCHPOINT_APPLICATION_H

#include "kernel.h"

enum phase {
    COMPUTE,
    EXCHANGE,  /* what the algorithm sends, and waiting for it */
    DISTRIBUTE /* distributing the problem from rank 0, and collecting the result there */
};

/* Each lap belongs to a phase; the next lap begins where it ends. */
struct stopwatch {
    double since_us; /* the end of the last lap */
};
struct stopwatch stopwatch_start(void);
void lap(struct stopwatch *watch, const struct task *t, enum phase phase);

/* The `variant` of every mode of an application: what one iteration does. */
struct solver {
    void (*solve)(const struct task *);
};

/* The `run` of parallel modes: every rank solves. The solver laps its phases itself. */
void run_on_all(const struct task *t, long iterations);

/* The `run` of serial modes, which are `at_root`: rank 0 solves, all of it in phase COMPUTE. The
 * other ranks sleep in the meantime, since they would take cores from rank 0 if they spun in MPI.
 */
void run_on_root(const struct task *t, long iterations);

/* For `send_bytes`: `size_bytes` of input on rank 0, none on the others. */
size_t input_on_root(const struct task *t);

/* The engine's main for an application: sets what all applications have in common, which is 1 rank
 * or more, the time of the slowest rank, and the phases. */
int application_main(int argc, char **argv, struct kernel application);

#endif
