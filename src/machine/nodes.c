/* Which ranks share a node, and which share a running operating system. */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "mpi_check.h"
#include "system_files.h"

enum { NAME = 384 };

static void find_equal(MPI_Comm comm, const char *name, int *lowest);

void nodes_find(MPI_Comm comm, int *nodes)
{
    char host[256] = "";
    char boot_id[64] = "";
    char name[NAME] = "";
    struct stat network = {0};
    gethostname(host, sizeof host - 1);
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

/* Sets for each rank the lowest rank of the same name. */
static void find_equal(MPI_Comm comm, const char *name, int *lowest)
{
    int ranks = 0;
    MPI_CHECK(MPI_Comm_size(comm, &ranks));
    char *names = allocate((size_t)ranks, NAME);
    MPI_CHECK(MPI_Allgather(name, NAME, MPI_CHAR, names, NAME, MPI_CHAR, comm));
    for (int rank = 0; rank < ranks; rank++) {
        lowest[rank] = 0;
        while (strncmp(names + (size_t)lowest[rank] * NAME, names + (size_t)rank * NAME, NAME) !=
               0) {
            lowest[rank]++;
        }
    }
    free(names);
}
