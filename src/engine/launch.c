/* How many ranks were started, and whether the kernel can use them. */
#include "launch.h"

#include <stdlib.h>

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
