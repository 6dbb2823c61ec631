/* Replaces a call of the C library: the variable DEALT_CPUS says which CPUs each rank may use, as
 * hexadecimal masks of single digits, such as 113. */
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved */
int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *cpus)
{
    int initialised = 0;
    int finalised = 0;
    int rank = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    const char *dealt = getenv("DEALT_CPUS");
    if (!initialised || finalised || dealt == NULL) {
        return syscall(SYS_sched_getaffinity, process, bytes, cpus) < 0 ? -1 : 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char digit[] = {dealt[rank], '\0'};
    memset(cpus, 0, bytes);
    *(unsigned char *)cpus = (unsigned char)strtoul(digit, NULL, 16);
    return 0;
}
