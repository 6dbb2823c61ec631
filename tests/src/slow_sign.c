/* Replaces a call of the MPI library: each send of an empty message, such as the one that wakes a
 * rank, takes 3 ms. */
#include <mpi.h>

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    const double start = MPI_Wtime();
    while (count == 0 && MPI_Wtime() - start < 3e-3) {
    }
    return PMPI_Send(buffer, count, type, to, tag, comm);
}
