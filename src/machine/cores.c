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

static int cores_in(const unsigned char *cpus, size_t bytes)
{
    int cores = 0;
    for (size_t i = 0; i < bytes; i++) {
        for (unsigned bits = cpus[i]; bits != 0; bits &= bits - 1) {
            cores++;
        }
    }
    return cores;
}

bool cores_suffice(MPI_Comm comm)
{
    int ranks = 0;
    MPI_CHECK(MPI_Comm_size(comm, &ranks));
    struct place mine = {.boot_id = ""};
    system_line("/proc/sys/kernel/random/boot_id", "", mine.boot_id, sizeof mine.boot_id);
    sched_getaffinity(0, sizeof mine.cpus, (cpu_set_t *)(void *)mine.cpus);
    struct place *places = allocate((size_t)ranks, sizeof *places);
    MPI_CHECK(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, comm));

    bool suffice = true;
    for (int i = 0; i < ranks; i++) {
        unsigned char together[sizeof mine.cpus] = {0};
        int sharing = 0;
        for (int k = 0; k < ranks; k++) {
            if (strcmp(places[i].boot_id, places[k].boot_id) == 0) {
                sharing++;
                for (size_t b = 0; b < sizeof together; b++) {
                    together[b] |= places[k].cpus[b];
                }
            }
        }
        suffice = suffice && cores_in(together, sizeof together) >= sharing;
    }
    free(places);
    return suffice;
}
#endif
