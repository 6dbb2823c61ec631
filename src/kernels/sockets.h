/* TCP between two ranks, with no message-passing library in between.
 * A call that fails ends the job with one line that names it. */
#ifndef SWITCHPOINT_SOCKETS_H
#define SWITCHPOINT_SOCKETS_H

#include <mpi.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

struct sockets_settings {
    const char *interface; /* NULL: the one that the host's name stands for */
};

/* Finds the interface's first IPv4 address; `address` may be NULL. */
bool sockets_address_of(const char *interface, struct in_addr *address);

/* Collective over two ranks. Connects rank 1 to rank 0 and returns the connection. */
int sockets_connect(MPI_Comm comm, const struct sockets_settings *settings);

void sockets_close(int connection);

void sockets_send(int connection, const void *message, size_t bytes);

/* What a receiver does while nothing is there. */
enum sockets_wait { SOCKETS_SLEEP, SOCKETS_POLL };

/* Returns when all of the message is there. */
void sockets_receive(int connection, void *message, size_t bytes, enum sockets_wait wait);

#endif
