/* MPI's calls for any number of bytes. A count of MPI 3 is an int: a larger message takes the calls
 * of MPI 4, or is one element of a derived type where the library does not have them. */
#ifndef SWITCHPOINT_LARGE_MESSAGES_H
#define SWITCHPOINT_LARGE_MESSAGES_H

#include <limits.h>
#include <mpi.h>
#include <stdint.h>

/* How a library without the calls of MPI 4 takes so many bytes: as one element of this type. It is
 * made once for each size. */
MPI_Datatype large_type(int64_t bytes);

#ifdef SWITCHPOINT_LARGE_COUNTS
#define LARGE_CALL(name, buffer, bytes, ...)                                                       \
    name##_c((buffer), (MPI_Count)(bytes), MPI_BYTE, __VA_ARGS__)
#else
#define LARGE_CALL(name, buffer, bytes, ...) name((buffer), 1, large_type(bytes), __VA_ARGS__)
#endif
#define CALL_WITH_BYTES(name, buffer, bytes, ...)                                                  \
    ((bytes) <= INT_MAX ? name((buffer), (int)(bytes), MPI_BYTE, __VA_ARGS__)                      \
                        : LARGE_CALL(name, (buffer), (bytes), __VA_ARGS__))

static inline int send_bytes(const void *message, int64_t bytes, int to, int tag, MPI_Comm comm)
{
    return CALL_WITH_BYTES(MPI_Send, message, bytes, to, tag, comm);
}

static inline int ssend_bytes(const void *message, int64_t bytes, int to, int tag, MPI_Comm comm)
{
    return CALL_WITH_BYTES(MPI_Ssend, message, bytes, to, tag, comm);
}

static inline int rsend_bytes(const void *message, int64_t bytes, int to, int tag, MPI_Comm comm)
{
    return CALL_WITH_BYTES(MPI_Rsend, message, bytes, to, tag, comm);
}

static inline int isend_bytes(const void *message, int64_t bytes, int to, int tag, MPI_Comm comm,
                              MPI_Request *request)
{
    return CALL_WITH_BYTES(MPI_Isend, message, bytes, to, tag, comm, request);
}

static inline int issend_bytes(const void *message, int64_t bytes, int to, int tag, MPI_Comm comm,
                               MPI_Request *request)
{
    return CALL_WITH_BYTES(MPI_Issend, message, bytes, to, tag, comm, request);
}

static inline int receive_bytes(void *message, int64_t bytes, int from, int tag, MPI_Comm comm)
{
    return CALL_WITH_BYTES(MPI_Recv, message, bytes, from, tag, comm, MPI_STATUS_IGNORE);
}

static inline int ireceive_bytes(void *message, int64_t bytes, int from, int tag, MPI_Comm comm,
                                 MPI_Request *request)
{
    return CALL_WITH_BYTES(MPI_Irecv, message, bytes, from, tag, comm, request);
}

static inline int send_init_bytes(const void *message, int64_t bytes, int to, int tag,
                                  MPI_Comm comm, MPI_Request *request)
{
    return CALL_WITH_BYTES(MPI_Send_init, message, bytes, to, tag, comm, request);
}

static inline int receive_init_bytes(void *message, int64_t bytes, int from, int tag, MPI_Comm comm,
                                     MPI_Request *request)
{
    return CALL_WITH_BYTES(MPI_Recv_init, message, bytes, from, tag, comm, request);
}

/* As many bytes each way. */
static inline int exchange_bytes(const void *message, void *answer, int64_t bytes, int peer,
                                 int tag, MPI_Comm comm)
{
    if (bytes <= INT_MAX) {
        return MPI_Sendrecv(message, (int)bytes, MPI_BYTE, peer, tag, answer, (int)bytes, MPI_BYTE,
                            peer, tag, comm, MPI_STATUS_IGNORE);
    }
#ifdef SWITCHPOINT_LARGE_COUNTS
    return MPI_Sendrecv_c(message, (MPI_Count)bytes, MPI_BYTE, peer, tag, answer, (MPI_Count)bytes,
                          MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE);
#else
    return MPI_Sendrecv(message, 1, large_type(bytes), peer, tag, answer, 1, large_type(bytes),
                        peer, tag, comm, MPI_STATUS_IGNORE);
#endif
}

#endif
