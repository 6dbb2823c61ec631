/* Reduce: what it costs until rank 0 has the reduction of all ranks' vectors. */
#include "reduction.h"
#include "replacement.h"

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Reduce(t->send, t->receive, reduction_count(t), reduction_type(t),
                             reduction_operation(t), 0, t->comm));
    }
}

static void run_by_allreduce(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Allreduce(t->send, t->receive, reduction_count(t), reduction_type(t),
                                reduction_operation(t), t->comm));
    }
}

static size_t result_bytes(const struct task *t)
{
    return t->rank == 0 ? (size_t)t->size_bytes : 0;
}

static struct verdict check(const struct task *t, uint64_t key)
{
    return reduction_check(t, key, 0, t->rank == 0 ? (size_t)reduction_count(t) : 0);
}

static const struct result RESULT = {
    .bytes = result_bytes, .fill = reduction_fill_vector, .check = check};

static const struct mode MODES[] = {
    {.name = "library",
     .summary = "MPI_Reduce to rank 0; time_us: until the last rank has ended",
     .source = "the MPI library's own choice",
     .run = run_library,
     .operation = "reduce",
     .result = &RESULT,
     .suits = reduction_suits},
    {.name = "by_allreduce",
     .summary = "MPI_Allreduce, whose result the other ranks do not need",
     .source = GUIDELINES,
     .run = run_by_allreduce,
     .replacement = true,
     .result = &REDUCED_EVERYWHERE,
     .suits = reduction_suits},
    {0},
};

static const struct pattern REDUCE = {.name = "reduce"};

static const struct kernel_option OPTIONS[] = {REDUCTION_OPTIONS, {0}};

int main(int argc, char **argv)
{
    struct reduction settings = {0};
    const struct kernel reduce = {
        .name = "reduce",
        .summary = "until rank 0 has the reduction of all ranks' vectors; a size is one vector",
        .ranks_min = 2,
        .sizes = "8:4M",
        .size_unit = reduction_size_unit,
        .timing = TIME_OF_SLOWEST_ALONE,
        .pattern = &REDUCE,
        .modes = MODES,
        .options = OPTIONS,
        .settings = &settings,
    };
    return engine_main(argc, argv, &reduce);
}
