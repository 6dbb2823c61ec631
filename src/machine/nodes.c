/* Which ranks share a node, and which share a running operating system. */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agreement.h"
#include "memory.h"
#include "mpi_check.h"
#include "system_files.h"

enum { NAME = 384 };

static void find_equal(MPI_Comm comm, const char *name, int *lowest);

void node_name(char name[NODE_NAME_LENGTH])
{
#ifdef SWITCHPOINT_SIMULATED
    char simulated[MPI_MAX_PROCESSOR_NAME] = ""; /* its system's own name is the real machine's */
    int length = 0;
    MPI_CHECK(MPI_Get_processor_name(simulated, &length));
    snprintf(name, NODE_NAME_LENGTH, "%s", simulated);
#else
    name[0] = name[NODE_NAME_LENGTH - 1] = '\0';
    gethostname(name, NODE_NAME_LENGTH - 1);
#endif
}

void nodes_find(MPI_Comm comm, int *nodes)
{
    char host[NODE_NAME_LENGTH];
    char boot_id[64] = "";
    char name[NAME] = "";
    struct stat network = {0};
    node_name(host);
    system_line("/proc/sys/kernel/random/boot_id", "", boot_id, sizeof boot_id);
    stat("/proc/self/ns/net", &network);
    snprintf(name, sizeof name, "%s %s %llu", host, boot_id, (unsigned long long)network.st_ino);
    find_equal(comm, name, nodes);
}

void kernels_find(MPI_Comm comm, int *kernels)
{
    int rank = 0;
    char boot_id[64] = "";
    char name[NAME] = "";
    struct stat clocks = {0}; /* a time namespace has clocks of its own */
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    stat("/proc/self/ns/time", &clocks);
    if (system_line("/proc/sys/kernel/random/boot_id", "", boot_id, sizeof boot_id)) {
        snprintf(name, sizeof name, "%s %llu", boot_id, (unsigned long long)clocks.st_ino);
    } else {
        snprintf(name, sizeof name, "rank %d", rank);
    }
    find_equal(comm, name, kernels);
}

/* Sets for each rank the lowest rank of the same name. Rank 0 compares the names, since all names
 * in the memory of every rank would be too much where one machine simulates a thousand. */
static void find_equal(MPI_Comm comm, const char *name, int *lowest)
{
    int rank = 0;
    int ranks = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    MPI_CHECK(MPI_Comm_size(comm, &ranks));
    char *names = allocate(rank == 0 ? (size_t)ranks : 1, NAME);
    MPI_CHECK(MPI_Gather(name, NAME, MPI_CHAR, names, NAME, MPI_CHAR, 0, comm));
    for (int i = 0; rank == 0 && i < ranks; i++) {
        lowest[i] = 0;
        while (strncmp(names + (size_t)lowest[i] * NAME, names + (size_t)i * NAME, NAME) != 0) {
            lowest[i]++;
        }
    }
    MPI_CHECK(MPI_Bcast(lowest, ranks, MPI_INT, 0, comm));
    ranks_have_the_same(comm, lowest, (size_t)ranks * sizeof *lowest);
    free(names);
}
