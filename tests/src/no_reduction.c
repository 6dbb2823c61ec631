/* A call that replaces that of the MPI library: it reports success and reduces nothing. */
#include <mpi.h>

int MPI_Reduce_scatter_block(const void *sent, void *received, int count, MPI_Datatype type,
                             MPI_Op operation, MPI_Comm comm)
{
    (void)sent, (void)received, (void)count, (void)type, (void)operation, (void)comm;
    return MPI_SUCCESS;
}
