/* Scatter: what it costs until every rank has its message from rank 0. */
#include <string.h>

#include "kernel.h"
#include "rank_counts.h"
#include "replacement.h"

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Scatter(t->send, count_of(t), MPI_BYTE, t->receive, count_of(t), MPI_BYTE, 0,
                              t->comm));
    }
}

/* The other ranks keep all messages after their own. */
static void run_by_bcast(const struct task *t, long iterations)
{
    const size_t bytes = (size_t)count_of(t);
    unsigned char *all = t->rank == 0 ? t->send : t->receive + bytes;
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Bcast(all, t->ranks * count_of(t), MPI_BYTE, 0, t->comm));
        memcpy(t->receive, all + (size_t)t->rank * bytes, bytes);
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

static bool arrival_of_all(const struct task *t, int index, struct arrival *all)
{
    const size_t bytes = (size_t)count_of(t);
    if (index == 0) {
        return arrival(t, index, all);
    }
    *all = (struct arrival){.offset = bytes, .bytes = (size_t)t->ranks * bytes, .sender = 0};
    return t->rank > 0 && index == 1;
}

static size_t send_bytes(const struct task *t)
{
    return (size_t)t->ranks * (size_t)count_of(t);
}

static void run_by_scatterv(const struct task *t, long iterations)
{
    const struct rank_counts *each = t->state;
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Scatterv(t->send, each->counts, each->offsets, MPI_BYTE, t->receive,
                               each->counts[t->rank], MPI_BYTE, 0, t->comm));
    }
}

static bool arrival_of_growing(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){
        .bytes = own_count(t), .sender = 0, .sent_offset = counts_before(t, t->rank)};
    return index == 0;
}

static const struct mode MODES[] = {
    {.name = "library",
     .summary = "MPI_Scatter from rank 0; time_us: until the last rank has ended",
     .source = "the MPI library's own choice",
     .run = run_library,
     .operation = "scatter",
     .arrival = arrival,
     .send_bytes = send_bytes},
    {.name = "by_bcast",
     .summary = "MPI_Bcast of all messages, and a copy of the own one",
     .source = GUIDELINES,
     .run = run_by_bcast,
     .replacement = true,
     .arrival = arrival_of_all,
     .send_bytes = send_bytes,
     .suits = suits_one_call},
    {.name = "by_scatterv",
     .summary = "MPI_Scatterv with the same count for every rank",
     .source = GUIDELINES,
     .run = run_by_scatterv,
     .replacement = true,
     .arrival = arrival,
     .send_bytes = send_bytes,
     .suits = suits_one_call,
     .prepare = rank_counts_prepare,
     .release = rank_counts_release},
    {.name = "growing_scatterv",
     .summary = "MPI_Scatterv with counts from 0 for rank 0 to twice the size for the last rank",
     .source = "the v-form for ranks with parts of different sizes; the counts are ours",
     .run = run_by_scatterv,
     .variant = GROWING_COUNTS,
     .replacement = true,
     .arrival = arrival_of_growing,
     .send_bytes = send_bytes,
     .suits = suits_one_call,
     .prepare = rank_counts_prepare,
     .release = rank_counts_release},
    {0},
};

static const struct pattern SCATTER = {
    .name = "scatter", .sizes = one_for_each_rank, .bus_factor = all_but_own};

int main(int argc, char **argv)
{
    struct rank_counts counts = {0};
    const struct kernel scatter = {
        .name = "scatter",
        .summary = "until every rank has its message from rank 0",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST_ALONE,
        .pattern = &SCATTER,
        .modes = MODES,
        .state = &counts,
    };
    return engine_main(argc, argv, &scatter);
}
