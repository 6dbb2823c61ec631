/* A kernel that computes: each rank has numbers, and rank 0 adds them up place by place. One mode
 * does so, the other sends and adds nothing. */
#include "kernel.h"

enum { TAG = 1 };

static int count(const struct task *t)
{
    return count_of(t) / (int)sizeof(uint64_t);
}

static uint64_t number(uint64_t key, int rank, int place)
{
    return key * (uint64_t)(rank + 1) + (uint64_t)place;
}

static uint64_t *input(const struct task *t)
{
    return (uint64_t *)(void *)t->send;
}

static uint64_t *sums(const struct task *t)
{
    return (uint64_t *)(void *)t->receive;
}

static void run_sum(const struct task *t, long iterations)
{
    uint64_t *arrived = sums(t) + count(t);
    for (long i = 0; i < iterations; i++) {
        if (t->rank > 0) {
            MPI_CHECK(MPI_Send(t->send, count(t), MPI_UINT64_T, 0, TAG, t->comm));
            count_sent(t, (size_t)count_of(t), 0);
        }
        for (int k = 0; t->rank == 0 && k < count(t); k++) {
            sums(t)[k] = input(t)[k];
        }
        for (int rank = 1; t->rank == 0 && rank < t->ranks; rank++) {
            MPI_CHECK(
                MPI_Recv(arrived, count(t), MPI_UINT64_T, rank, TAG, t->comm, MPI_STATUS_IGNORE));
            for (int k = 0; k < count(t); k++) {
                sums(t)[k] += arrived[k];
            }
        }
    }
}

static void run_idle(const struct task *t, long iterations)
{
    (void)t, (void)iterations;
}

/* The sums and what they are made of. */
static size_t result_bytes(const struct task *t)
{
    return t->rank == 0 ? 2 * (size_t)count_of(t) : 0;
}

static void fill(const struct task *t, uint64_t key)
{
    for (int k = 0; k < count(t); k++) {
        input(t)[k] = number(key, t->rank, k);
    }
}

static struct verdict check_sums(const struct task *t, uint64_t key)
{
    struct verdict verdict = {0};
    for (int k = 0; t->rank == 0 && k < count(t); k++) {
        uint64_t sum = 0;
        for (int rank = 0; rank < t->ranks; rank++) {
            sum += number(key, rank, k);
        }
        verdict.compared++;
        verdict.wrong += sums(t)[k] != sum;
    }
    return verdict;
}

static const struct result SUMS = {.bytes = result_bytes, .fill = fill, .check = check_sums};

static const struct mode MODES[] = {
    {.name = "sum",
     .summary = "numbers added up at rank 0",
     .source = "none",
     .run = run_sum,
     .result = &SUMS},
    {.name = "idle",
     .summary = "nothing at all",
     .source = "none",
     .run = run_idle,
     .result = &SUMS},
    {0},
};

int main(int argc, char **argv)
{
    const struct kernel sums_kernel = {
        .name = "sums",
        .summary = "a kernel for the engine's tests",
        .ranks_min = 2,
        .modes = MODES,
    };
    return engine_main(argc, argv, &sums_kernel);
}
