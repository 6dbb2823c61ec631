/* Replaces calls of the MPI library: from the second visit to a point on, rank 1 leaves every
 * broadcast 30 ms after the others, as on a node where something else starts to run. */
#include <mpi.h>

static int visits = 0;

/* Ends the preparation of a visit. */
int MPI_Barrier(MPI_Comm comm)
{
    visits++;
    return PMPI_Barrier(comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const int code = PMPI_Bcast(buffer, count, type, root, comm);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const double left = MPI_Wtime();
    while (visits > 1 && rank == 1 && MPI_Wtime() - left < 30e-3) {
    }
    return code;
}
