/* Gather: what it costs until rank 0 has the message of every rank. */
#include "from_each.h"
#include "kernel.h"
#include "rank_counts.h"
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

/* At rank 0 one message from each rank, itself included. */
static bool arrival(const struct task *t, int index, struct arrival *arrival)
{
    return t->rank == 0 && arrival_from_each(t, index, arrival);
}

static bool arrival_of_growing(const struct task *t, int index, struct arrival *arrival)
{
    return t->rank == 0 && arrival_of_counts(t, index, arrival);
}

static void run_by_gatherv(const struct task *t, long iterations)
{
    const struct rank_counts *each = t->state;
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Gatherv(t->send, each->counts[t->rank], MPI_BYTE, t->receive, each->counts,
                              each->offsets, MPI_BYTE, 0, t->comm));
    }
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
     .arrival = arrival_from_each},
    {.name = "by_gatherv",
     .summary = "MPI_Gatherv with the same count for every rank",
     .source = GUIDELINES,
     .run = run_by_gatherv,
     .replacement = true,
     .arrival = arrival,
     .suits = suits_one_call,
     .prepare = rank_counts_prepare,
     .release = rank_counts_release},
    {.name = "growing_gatherv",
     .summary = "MPI_Gatherv with counts from 0 on rank 0 to twice the size on the last rank",
     .source = "the v-form for ranks with parts of different sizes; the counts are ours",
     .run = run_by_gatherv,
     .variant = GROWING_COUNTS,
     .replacement = true,
     .arrival = arrival_of_growing,
     .send_bytes = own_count,
     .suits = suits_one_call,
     .prepare = rank_counts_prepare,
     .release = rank_counts_release},
    {0},
};

static const struct pattern GATHER = {
    .name = "gather", .sizes = one_for_each_rank, .bus_factor = all_but_own};

int main(int argc, char **argv)
{
    struct rank_counts counts = {0};
    const struct kernel gather = {
        .name = "gather",
        .summary = "until rank 0 has the message of every rank",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST_ALONE,
        .pattern = &GATHER,
        .modes = MODES,
        .state = &counts,
    };
    return engine_main(argc, argv, &gather);
}
