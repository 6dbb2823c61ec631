/* Replaces a call of the MPI library: rank 1 leaves every broadcast 3 ms after the others, as on a
 * node where something else runs. */
#include <mpi.h>

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const int code = PMPI_Bcast(buffer, count, type, root, comm);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const double left = MPI_Wtime();
    while (rank == 1 && MPI_Wtime() - left < 3e-3) {
    }
    return code;
}
