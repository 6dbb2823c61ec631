/* What all applications have in common: phases, modes on rank 0 alone, input on rank 0. */
#include "application.h"

#include "clock.h"

/* The columns of `enum phase` in the record. */
static const char *const PHASES[] = {"compute_us", "exchange_us", "distribute_us", NULL};

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
    for (long i = 0; t->rank == 0 && i < iterations; i++) {
        struct stopwatch watch = stopwatch_start();
        variant->solve(t);
        lap(&watch, t, COMPUTE);
    }
}

struct task on_one_rank(const struct task *t)
{
    struct task alone = *t;
    alone.comm = MPI_COMM_SELF;
    alone.rank = 0;
    alone.ranks = 1;
    return alone;
}

void run_on_one_rank(const struct task *t, long iterations)
{
    const struct one_rank *variant = t->variant;
    const struct task alone = on_one_rank(t);
    for (long i = 0; t->rank == 0 && i < iterations; i++) {
        variant->solve(&alone);
    }
}

static const struct result *result_of(const struct task *t)
{
    return ((const struct one_rank *)t->variant)->result;
}

static size_t bytes_on_one_rank(const struct task *t)
{
    const struct task alone = on_one_rank(t);
    return t->rank == 0 ? result_of(t)->bytes(&alone) : 0;
}

static void fill_on_one_rank(const struct task *t, uint64_t key)
{
    const struct task alone = on_one_rank(t);
    if (t->rank == 0) {
        result_of(t)->fill(&alone, key);
    }
}

static struct verdict check_on_one_rank(const struct task *t, uint64_t key)
{
    const struct task alone = on_one_rank(t);
    return t->rank == 0 ? result_of(t)->check(&alone, key) : (struct verdict){0};
}

const struct result RESULT_ON_ONE_RANK = {bytes_on_one_rank, fill_on_one_rank, check_on_one_rank};

size_t input_on_root(const struct task *t)
{
    return t->rank == 0 ? (size_t)count_of(t) : 0;
}

int application_main(int argc, char **argv, struct kernel application)
{
    application.ranks_min = 1;
    application.timing = TIME_OF_SLOWEST_ALONE;
    application.phases = PHASES;
    application.pattern = &PATTERN_PROBLEM;
    return engine_main(argc, argv, &application);
}
