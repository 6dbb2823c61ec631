/* Allreduce: what it costs until every rank has the reduction of all ranks' vectors. */
#include <string.h>

#include "reduction.h"
#include "replacement.h"

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Allreduce(t->send, t->receive, reduction_count(t), reduction_type(t),
                                reduction_operation(t), t->comm));
    }
}

/* The result takes the place of the input, which must therefore be copied for each repetition. */
static void run_in_place(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        memcpy(t->receive, t->send, (size_t)t->size_bytes);
        MPI_CHECK(MPI_Allreduce(MPI_IN_PLACE, t->receive, reduction_count(t), reduction_type(t),
                                reduction_operation(t), t->comm));
    }
}

static void run_reduce_then_bcast(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Reduce(t->send, t->receive, reduction_count(t), reduction_type(t),
                             reduction_operation(t), 0, t->comm));
        MPI_CHECK(MPI_Bcast(t->receive, reduction_count(t), reduction_type(t), 0, t->comm));
    }
}

static const struct mode MODES[] = {
    {.name = "library",
     .summary = "MPI_Allreduce; time_us: until the last rank has ended",
     .source = "the MPI library's own choice",
     .run = run_library,
     .operation = "allreduce",
     .result = &REDUCED_EVERYWHERE,
     .suits = reduction_suits},
    {.name = "in_place",
     .summary = "with MPI_IN_PLACE; the time contains the copy of the input",
     .source = "MPI 4.1, section 6.9.6",
     .run = run_in_place,
     .operation = "allreduce",
     .result = &REDUCED_EVERYWHERE,
     .suits = reduction_suits},
    {.name = "reduce_then_bcast",
     .summary = "MPI_Reduce, then MPI_Bcast",
     .source = GUIDELINES,
     .run = run_reduce_then_bcast,
     .replacement = true,
     .result = &REDUCED_EVERYWHERE,
     .suits = reduction_suits},
    {0},
};

/* Every byte is sent and received by its rank, in two halves of the work: 2 (n - 1) / n. */
static double twice_all_but_own(int ranks)
{
    return 2 * all_but_own(ranks);
}

static const struct pattern ALLREDUCE = {.name = "allreduce", .bus_factor = twice_all_but_own};

static const struct kernel_option OPTIONS[] = {REDUCTION_OPTIONS, {0}};

int main(int argc, char **argv)
{
    struct reduction settings = {0};
    const struct kernel allreduce = {
        .name = "allreduce",
        .summary = "until every rank has the reduction of all ranks' vectors; a size is one vector",
        .ranks_min = 2,
        .sizes = "8:4M",
        .size_unit = reduction_size_unit,
        .timing = TIME_OF_SLOWEST_ALONE,
        .pattern = &ALLREDUCE,
        .modes = MODES,
        .options = OPTIONS,
        .settings = &settings,
    };
    return engine_main(argc, argv, &allreduce);
}
