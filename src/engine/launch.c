/* How many ranks were started, and whether the kernel can use them. */
#include "launch.h"

#include <stdint.h>
#include <stdlib.h>

#include "mpi_check.h"

static uint64_t digest(uint64_t before, const char *word);

int processes_started(void)
{
    static const char *const variables[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE",
                                            "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL) {
            return (int)strtol(value, NULL, 10);
        }
    }
    return 0;
}

bool ranks_agree(MPI_Comm comm, const struct kernel *kernel, int argc, char **argv,
                 struct refusal *refusal)
{
    uint64_t mine = digest(0, kernel->name);
    for (int i = 1; i < argc; i++) {
        mine = digest(mine, argv[i]);
    }
    const uint64_t both[2] = {mine, ~mine};
    uint64_t most[2] = {0, 0};
    MPI_CHECK(MPI_Allreduce(both, most, 2, MPI_UINT64_T, MPI_MAX, comm));
    return most[0] == ~most[1] ||
           refuse(refusal, "the ranks were started with different kernels or arguments; start all "
                           "of them with the same");
}

/* FNV-1a, over the end of the word too, which separates words. */
static uint64_t digest(uint64_t before, const char *word)
{
    uint64_t hash = before ^ UINT64_C(0xcbf29ce484222325);
    const char *c = word;
    do {
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    } while (*c++ != '\0');
    return hash;
}

bool ranks_suit(const struct kernel *kernel, int started, int ranks, struct refusal *refusal)
{
    /* Where the MPI library does not understand its launcher, each process is a job of its own. */
    if (ranks == 1 && started > 1) {
        return refuse(refusal,
                      "started as %d jobs of one rank, not as one job: this MPI library does not "
                      "understand its launcher; with srun try --mpi=pmix or --mpi=pmi2, else use "
                      "the mpiexec of this MPI",
                      started);
    }
    if (kernel->ranks_max == kernel->ranks_min && ranks != kernel->ranks_min) {
        return refuse(refusal, "started with %d rank%s but needs exactly %d; use mpirun -n %d",
                      ranks, ranks == 1 ? "" : "s", kernel->ranks_min, kernel->ranks_min);
    }
    if (ranks < kernel->ranks_min) {
        return refuse(refusal, "started with %d rank%s but needs %d or more; use mpirun -n %d",
                      ranks, ranks == 1 ? "" : "s", kernel->ranks_min, kernel->ranks_min);
    }
    if (kernel->ranks_even && ranks % 2 != 0) {
        return refuse(refusal, "started with %d ranks but needs an even number; use mpirun -n %d",
                      ranks, ranks + 1);
    }
    if (kernel->ranks_max > 0 && ranks > kernel->ranks_max) {
        return refuse(refusal, "started with %d ranks but takes at most %d; use mpirun -n %d",
                      ranks, kernel->ranks_max, kernel->ranks_max);
    }
    return true;
}
