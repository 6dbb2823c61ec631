/* Reduce_scatter_block: what it costs until every rank has its block of the reduction. */
#include "reduction.h"
#include "replacement.h"

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Reduce_scatter_block(t->send, t->receive, reduction_count(t),
                                           reduction_type(t), reduction_operation(t), t->comm));
    }
}

/* Rank 0 reduces all blocks into what follows its own. */
static void run_reduce_then_scatter(const struct task *t, long iterations)
{
    unsigned char *reduced = t->receive + t->size_bytes;
    const int count = reduction_count(t);
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Reduce(t->send, reduced, t->ranks * count, reduction_type(t),
                             reduction_operation(t), 0, t->comm));
        MPI_CHECK(MPI_Scatter(reduced, count, reduction_type(t), t->receive, count,
                              reduction_type(t), 0, t->comm));
    }
}

static size_t result_bytes(const struct task *t)
{
    return (size_t)t->size_bytes;
}

static size_t vector_bytes(const struct task *t)
{
    return (size_t)t->ranks * (size_t)t->size_bytes;
}

static void fill(const struct task *t, uint64_t key)
{
    reduction_fill(t, key, (size_t)t->ranks * (size_t)reduction_count(t));
}

static struct verdict check(const struct task *t, uint64_t key)
{
    const size_t block = (size_t)reduction_count(t);
    return reduction_check(t, key, (size_t)t->rank * block, block);
}

static const struct result RESULT = {.bytes = result_bytes, .fill = fill, .check = check};

static size_t result_bytes_by_root(const struct task *t)
{
    return result_bytes(t) + (t->rank == 0 ? vector_bytes(t) : 0);
}

static const struct result RESULT_BY_ROOT = {
    .bytes = result_bytes_by_root, .fill = fill, .check = check};

static bool suits_reduce_then_scatter(const struct task *t, struct refusal *refusal)
{
    return reduction_suits(t, refusal) && suits_one_call(t, refusal);
}

static const struct mode MODES[] = {
    {.name = "library",
     .summary = "MPI_Reduce_scatter_block; time_us: until the last rank has ended",
     .source = "the MPI library's own choice",
     .run = run_library,
     .operation = "reduce_scatter_block",
     .result = &RESULT,
     .send_bytes = vector_bytes,
     .suits = reduction_suits},
    {.name = "reduce_then_scatter",
     .summary = "MPI_Reduce to rank 0, then MPI_Scatter",
     .source = GUIDELINES,
     .run = run_reduce_then_scatter,
     .replacement = true,
     .result = &RESULT_BY_ROOT,
     .send_bytes = vector_bytes,
     .suits = suits_reduce_then_scatter},
    {0},
};

static const struct pattern REDUCE_SCATTER = {
    .name = "reduce_scatter", .sizes = one_for_each_rank, .bus_factor = all_but_own};

static const struct kernel_option OPTIONS[] = {REDUCTION_OPTIONS, {0}};

int main(int argc, char **argv)
{
    struct reduction settings = {0};
    const struct kernel reduce_scatter = {
        .name = "reduce_scatter",
        .summary = "until every rank has its block of the reduction; a size is one block",
        .ranks_min = 2,
        .sizes = "8:1M",
        .size_unit = reduction_size_unit,
        .timing = TIME_OF_SLOWEST_ALONE,
        .pattern = &REDUCE_SCATTER,
        .modes = MODES,
        .options = OPTIONS,
        .settings = &settings,
    };
    return engine_main(argc, argv, &reduce_scatter);
}
