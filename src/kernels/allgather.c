/* Allgather: what it costs until every rank has the message of every rank. */
#include "from_each.h"
#include "kernel.h"
#include "rank_counts.h"
#include "replacement.h"

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Allgather(t->send, count_of(t), MPI_BYTE, t->receive, count_of(t), MPI_BYTE,
                                t->comm));
    }
}

static void run_gather_then_bcast(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Gather(t->send, count_of(t), MPI_BYTE, t->receive, count_of(t), MPI_BYTE, 0,
                             t->comm));
        MPI_CHECK(MPI_Bcast(t->receive, t->ranks * count_of(t), MPI_BYTE, 0, t->comm));
    }
}

static void run_by_allgatherv(const struct task *t, long iterations)
{
    const struct rank_counts *each = t->state;
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Allgatherv(t->send, each->counts[t->rank], MPI_BYTE, t->receive, each->counts,
                                 each->offsets, MPI_BYTE, t->comm));
    }
}

static const struct mode MODES[] = {
    {.name = "library",
     .summary = "MPI_Allgather; time_us: until the last rank has ended",
     .source = "the MPI library's own choice",
     .run = run_library,
     .operation = "allgather",
     .arrival = arrival_from_each},
    {.name = "gather_then_bcast",
     .summary = "MPI_Gather to rank 0, then MPI_Bcast",
     .source = GUIDELINES,
     .run = run_gather_then_bcast,
     .replacement = true,
     .arrival = arrival_from_each,
     .suits = suits_one_call},
    {.name = "by_allgatherv",
     .summary = "MPI_Allgatherv with the same count for every rank",
     .source = GUIDELINES,
     .run = run_by_allgatherv,
     .replacement = true,
     .arrival = arrival_from_each,
     .suits = suits_one_call,
     .prepare = rank_counts_prepare,
     .release = rank_counts_release},
    {.name = "growing_allgatherv",
     .summary = "MPI_Allgatherv with counts from 0 on rank 0 to twice the size on the last rank",
     .source = "the v-form for ranks with parts of different sizes; the counts are ours",
     .run = run_by_allgatherv,
     .variant = GROWING_COUNTS,
     .replacement = true,
     .arrival = arrival_of_counts,
     .send_bytes = own_count,
     .suits = suits_one_call,
     .prepare = rank_counts_prepare,
     .release = rank_counts_release},
    {0},
};

static const struct pattern ALLGATHER = {
    .name = "allgather", .sizes = one_for_each_rank, .bus_factor = all_but_own};

int main(int argc, char **argv)
{
    struct rank_counts counts = {0};
    const struct kernel allgather = {
        .name = "allgather",
        .summary = "until every rank has the message of every rank",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST_ALONE,
        .pattern = &ALLGATHER,
        .modes = MODES,
        .state = &counts,
    };
    return engine_main(argc, argv, &allgather);
}
