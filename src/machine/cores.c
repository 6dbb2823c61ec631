/* Whether the ranks have a core each. */
#include "cores.h"

#ifdef SWITCHPOINT_SIMULATED
/* Each simulated rank has a host of its own, whatever simulates it. */
bool cores_suffice(MPI_Comm comm)
{
    (void)comm;
    return true;
}
#else
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "mpi_check.h"
#include "system_files.h"

enum { CPUS_MAX = 8192 };

/* Which operating system a rank runs under, and on which of its CPUs. */
struct place {
    char boot_id[64];
    unsigned char cpus[CPUS_MAX / CHAR_BIT];
};

/* Who has which CPU, among the ranks under one operating system; -1: nobody, none. */
struct deal {
    const struct place *const *ranks;
    int count;
    int *cpu_of_rank;
    int *rank_of_cpu;
    int *queue;     /* ranks that may give up their CPU for another */
    int *wanted_by; /* per CPU: the rank that would take it */
};

static bool each_gets_a_core(const struct place *const *ranks, int count);
static bool deal_to(struct deal *deal, int rank);
static int free_cpu(struct deal *deal, int rank);
static bool may_use(const struct place *place, int cpu);

bool cores_suffice(MPI_Comm comm)
{
    int ranks = 0;
    MPI_CHECK(MPI_Comm_size(comm, &ranks));
    struct place mine = {.boot_id = ""};
    system_line("/proc/sys/kernel/random/boot_id", "", mine.boot_id, sizeof mine.boot_id);
    sched_getaffinity(0, sizeof mine.cpus, (cpu_set_t *)(void *)mine.cpus);
    struct place *places = allocate((size_t)ranks, sizeof *places);
    const struct place **here = allocate((size_t)ranks, sizeof(const struct place *));
    MPI_CHECK(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, comm));

    int count = 0;
    for (int i = 0; i < ranks; i++) {
        if (strcmp(places[i].boot_id, mine.boot_id) == 0) {
            here[count++] = &places[i];
        }
    }
    int suffice = each_gets_a_core(here, count);
    MPI_CHECK(MPI_Allreduce(MPI_IN_PLACE, &suffice, 1, MPI_INT, MPI_LAND, comm));
    free(here);
    free(places);
    return suffice != 0;
}

/* A matching of ranks and CPUs: ranks that are bound to the same one have only that, whatever the
 * others may use. */
static bool each_gets_a_core(const struct place *const *ranks, int count)
{
    struct deal deal = {
        .ranks = ranks,
        .count = count,
        .cpu_of_rank = allocate((size_t)count, sizeof(int)),
        .rank_of_cpu = allocate(CPUS_MAX, sizeof(int)),
        .queue = allocate((size_t)count, sizeof(int)),
        .wanted_by = allocate(CPUS_MAX, sizeof(int)),
    };
    for (int rank = 0; rank < count; rank++) {
        deal.cpu_of_rank[rank] = -1;
    }
    for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
        deal.rank_of_cpu[cpu] = -1;
    }
    bool each = true;
    for (int rank = 0; each && rank < count; rank++) {
        each = deal_to(&deal, rank);
    }
    free(deal.wanted_by);
    free(deal.queue);
    free(deal.rank_of_cpu);
    free(deal.cpu_of_rank);
    return each;
}

/* Along the way to a free CPU each rank gives its own to the one before it. */
static bool deal_to(struct deal *deal, int rank)
{
    int cpu = free_cpu(deal, rank);
    if (cpu < 0) {
        return false;
    }
    while (cpu >= 0) {
        const int taker = deal->wanted_by[cpu];
        const int given_up = deal->cpu_of_rank[taker];
        deal->rank_of_cpu[cpu] = taker;
        deal->cpu_of_rank[taker] = cpu;
        cpu = given_up;
    }
    return true;
}

/* The nearest free CPU that the rank, or ranks that would give up theirs in turn, may use; -1 if
 * there is none. */
static int free_cpu(struct deal *deal, int rank)
{
    int queued = 0;
    for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
        deal->wanted_by[cpu] = -1;
    }
    deal->queue[queued++] = rank;
    for (int next = 0; next < queued; next++) {
        const int asking = deal->queue[next];
        for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
            if (deal->wanted_by[cpu] >= 0 || !may_use(deal->ranks[asking], cpu)) {
                continue;
            }
            deal->wanted_by[cpu] = asking;
            if (deal->rank_of_cpu[cpu] < 0) {
                return cpu;
            }
            deal->queue[queued++] = deal->rank_of_cpu[cpu];
        }
    }
    return -1;
}

static bool may_use(const struct place *place, int cpu)
{
    return (place->cpus[cpu / CHAR_BIT] >> (cpu % CHAR_BIT) & 1) != 0;
}
#endif
