/* What all applications have in common: phases, the serial mode, input on rank 0. */
#include "application.h"

#include <time.h>

#include "clock.h"

/* The columns of `enum phase` in the record. */
static const char *const PHASES[] = {"compute_us", "exchange_us", "distribute_us", NULL};

static void sleep_until_root_ends(const struct task *t);

struct stopwatch stopwatch_start(void)
{
    return (struct stopwatch){clock_us()};
}

void lap(struct stopwatch *watch, const struct task *t, enum phase phase)
{
    watch->since_us = phase_end(t, phase, watch->since_us);
}

void run_on_all(const struct task *t, long iterations)
{
    const struct solver *variant = t->variant;
    for (long i = 0; i < iterations; i++) {
        variant->solve(t);
    }
}

void run_on_root(const struct task *t, long iterations)
{
    const struct solver *variant = t->variant;
    for (long i = 0; i < iterations; i++) {
        if (t->rank == 0) {
            struct stopwatch watch = stopwatch_start();
            variant->solve(t);
            lap(&watch, t, COMPUTE);
        }
        sleep_until_root_ends(t);
    }
}

static void sleep_until_root_ends(const struct task *t)
{
    enum { TAG_ENDED = 2 };
    const struct timespec nap = {.tv_nsec = 50000};
    if (t->rank == 0) {
        for (int rank = 1; rank < t->ranks; rank++) {
            MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, rank, TAG_ENDED, t->comm));
        }
        return;
    }
    int ended = 0;
    while (!ended) {
        nanosleep(&nap, NULL);
        MPI_CHECK(MPI_Iprobe(0, TAG_ENDED, t->comm, &ended, MPI_STATUS_IGNORE));
    }
    MPI_CHECK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_ENDED, t->comm, MPI_STATUS_IGNORE));
}

size_t input_on_root(const struct task *t)
{
    return t->rank == 0 ? (size_t)t->size_bytes : 0;
}

int application_main(int argc, char **argv, struct kernel application)
{
    application.ranks_min = 1;
    application.timing = TIME_OF_SLOWEST_ALONE;
    application.phases = PHASES;
    return engine_main(argc, argv, &application);
}
