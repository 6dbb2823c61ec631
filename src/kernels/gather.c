/* Gather: what it costs until rank 0 has the message of every rank. */
#include "kernel.h"
#include "replacement.h"

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Gather(t->send, count_of(t), MPI_BYTE, t->receive, count_of(t), MPI_BYTE, 0,
                             t->comm));
    }
}

static void run_by_allgather(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Allgather(t->send, count_of(t), MPI_BYTE, t->receive, count_of(t), MPI_BYTE,
                                t->comm));
    }
}

/* One message from each rank, this rank included. */
static bool arrival_everywhere(const struct task *t, int index, struct arrival *arrival)
{
    const size_t bytes = (size_t)count_of(t);
    *arrival = (struct arrival){.offset = (size_t)index * bytes, .bytes = bytes, .sender = index};
    return index < t->ranks;
}

static bool arrival(const struct task *t, int index, struct arrival *arrival)
{
    return t->rank == 0 && arrival_everywhere(t, index, arrival);
}

static const struct mode MODES[] = {
    {.name = "library",
     .summary = "MPI_Gather to rank 0; time_us: until the last rank has ended",
     .source = "the MPI library's own choice",
     .run = run_library,
     .operation = "gather",
     .arrival = arrival},
    {.name = "by_allgather",
     .summary = "MPI_Allgather, whose messages the other ranks do not need",
     .source = GUIDELINES,
     .run = run_by_allgather,
     .replacement = true,
     .arrival = arrival_everywhere},
    {0},
};

static const struct pattern GATHER = {
    .name = "gather", .sizes = one_for_each_rank, .bus_factor = all_but_own};

int main(int argc, char **argv)
{
    const struct kernel gather = {
        .name = "gather",
        .summary = "until rank 0 has the message of every rank",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST_ALONE,
        .pattern = &GATHER,
        .modes = MODES,
    };
    return engine_main(argc, argv, &gather);
}
