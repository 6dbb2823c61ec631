/* Calls that replace those of the MPI library: they change the last byte of each message that has
 * $CHANGED_MESSAGE_BYTES bytes. */
#include <mpi.h>
#include <stdlib.h>

static void change(void *message, int count, MPI_Datatype type)
{
    const char *wanted = getenv("CHANGED_MESSAGE_BYTES");
    int size = 0;
    PMPI_Type_size(type, &size);
    const int bytes = count * size;
    if (wanted != NULL && bytes > 0 && bytes == strtol(wanted, NULL, 10)) {
        ((unsigned char *)message)[bytes - 1] ^= 0x10;
    }
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    const int code = PMPI_Recv(buffer, count, type, from, tag, comm, status);
    change(buffer, count, type);
    return code;
}

int MPI_Sendrecv(const void *sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag,
                 void *received, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                 MPI_Status *status)
{
    const int code = PMPI_Sendrecv(sent, sent_count, sent_type, to, sent_tag, received, count, type,
                                   from, tag, comm, status);
    change(received, count, type);
    return code;
}
