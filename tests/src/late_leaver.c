/* Replaces a call of the MPI library: rank 1 leaves every barrier 20 ms after the others. */
#include <mpi.h>

int MPI_Barrier(MPI_Comm comm)
{
    const int code = PMPI_Barrier(comm);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const double left = MPI_Wtime();
    while (rank == 1 && MPI_Wtime() - left < 20e-3) {
    }
    return code;
}
