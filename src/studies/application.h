/* What all applications have in common: a problem on rank 0 and its result there, time in three
 * phases, and modes in which rank 0 works alone. */
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

/* The `variant` of the modes of an application: what one iteration does. */
struct solver {
    void (*solve)(const struct task *);
};

/* The `run` of parallel modes: every rank solves. The solver laps its phases itself. */
void run_on_all(const struct task *t, long iterations);

/* The `run` of serial modes, which are `at_root`: rank 0 solves, all of it in phase COMPUTE. */
void run_on_root(const struct task *t, long iterations);

/* The `variant` of modes that are `at_root` and solve the problem in its parallel form on one rank,
 * which is rank 0 in a world of its own. Beside the serial mode they show what the parallel form
 * costs before it sends any message. */
struct one_rank {
    void (*solve)(const struct task *); /* laps its phases itself */
    const struct result *result;
};

/* Their `run` and their `result`. */
void run_on_one_rank(const struct task *t, long iterations);
extern const struct result RESULT_ON_ONE_RANK;

/* The task as rank 0 sees it in a world of its own, for `suits`, `prepare` and `release` of these
 * modes. */
struct task on_one_rank(const struct task *t);

/* For `send_bytes`: `size_bytes` of input on rank 0, none on the others. */
size_t input_on_root(const struct task *t);

/* The engine's main for an application: sets what all applications have in common, which is 1 rank
 * or more, the time of the slowest rank, and the phases. */
int application_main(int argc, char **argv, struct kernel application);

#endif
