/* Scatter: what it costs until every rank has its message from rank 0. */
#include "kernel.h"

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Scatter(t->send, count_of(t), MPI_BYTE, t->receive, count_of(t), MPI_BYTE, 0,
                              t->comm));
    }
}

/* Rank 0's message for this rank. */
static bool arrival(const struct task *t, int index, struct arrival *arrival)
{
    const size_t bytes = (size_t)count_of(t);
    *arrival =
        (struct arrival){.bytes = bytes, .sender = 0, .sent_offset = (size_t)t->rank * bytes};
    return index == 0;
}

static size_t send_bytes(const struct task *t)
{
    return (size_t)t->ranks * (size_t)count_of(t);
}

static const struct mode MODES[] = {
    {.name = "library",
     .summary = "MPI_Scatter from rank 0; time_us: until the last rank has ended",
     .source = "the MPI library's own choice",
     .run = run_library,
     .operation = "scatter",
     .arrival = arrival,
     .send_bytes = send_bytes},
    {0},
};

static const struct pattern SCATTER = {
    .name = "scatter", .sizes = one_for_each_rank, .bus_factor = all_but_own};

int main(int argc, char **argv)
{
    const struct kernel scatter = {
        .name = "scatter",
        .summary = "until every rank has its message from rank 0",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST_ALONE,
        .pattern = &SCATTER,
        .modes = MODES,
    };
    return engine_main(argc, argv, &scatter);
}
