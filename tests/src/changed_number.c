/* A call that replaces that of the MPI library: on rank 1 a bit changes in what arrives in
 * broadcast $CHANGED_NUMBER, counted from 0, of those of $CHANGED_BYTES bytes. */
#include <mpi.h>
#include <stdlib.h>

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    static int seen;
    const char *bytes = getenv("CHANGED_BYTES");
    const char *number = getenv("CHANGED_NUMBER");
    const int code = PMPI_Bcast(buffer, count, type, root, comm);
    int rank = 0;
    int size = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Type_size(type, &size);
    if (bytes != NULL && number != NULL && rank == 1 && root == 0 &&
        (long)count * size == strtol(bytes, NULL, 10) && seen++ == strtol(number, NULL, 10)) {
        ((unsigned char *)buffer)[0] ^= 0x40;
    }
    return code;
}
