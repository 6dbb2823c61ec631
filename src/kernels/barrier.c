/* Barrier: what it costs until every rank knows that all have come. There is nothing to verify. */
#include "kernel.h"
#include "replacement.h"

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Barrier(t->comm));
    }
}

static void run_by_allreduce(const struct task *t, long iterations)
{
    int come = 1;
    int all = 0;
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Allreduce(&come, &all, 1, MPI_INT, MPI_SUM, t->comm));
    }
}

static bool arrival_none(const struct task *t, int index, struct arrival *arrival)
{
    (void)t, (void)index, (void)arrival;
    return false;
}

static bool suits_nothing_to_send(const struct task *t, struct refusal *refusal)
{
    return t->size_bytes == 0 ||
           refuse(refusal, "--sizes: a barrier sends no payload; leave the option out");
}

static const struct mode MODES[] = {
    {.name = "library",
     .summary = "MPI_Barrier; time_us: until the last rank has ended",
     .source = "the MPI library's own choice",
     .run = run_library,
     .operation = "barrier",
     .arrival = arrival_none,
     .suits = suits_nothing_to_send},
    {.name = "by_allreduce",
     .summary = "MPI_Allreduce of one int",
     .source = GUIDELINES,
     .run = run_by_allreduce,
     .replacement = true,
     .arrival = arrival_none,
     .suits = suits_nothing_to_send},
    {0},
};

int main(int argc, char **argv)
{
    const struct kernel barrier = {
        .name = "barrier",
        .summary = "until every rank knows that all have come",
        .ranks_min = 2,
        .sizes = "0",
        .timing = TIME_OF_SLOWEST_ALONE,
        .modes = MODES,
    };
    return engine_main(argc, argv, &barrier);
}
