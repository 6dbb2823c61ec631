/* TCP between two ranks, without a message-passing library.
 * A system call that fails ends the job with one line that names it. */
#ifndef SWITCHPOINT_SOCKETS_H
#define SWITCHPOINT_SOCKETS_H

#include <mpi.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "refusal.h"

struct sockets_settings {
    const char *interface; /* NULL: the interface to whose address the host's name resolves */
};

/* Finds the interface's first IPv4 address; false when it has none. `address` may be NULL. */
bool sockets_address_of(const char *interface, struct in_addr *address);

/* Collective. Whether rank 0 has an address to which the other rank can connect. */
bool sockets_available(MPI_Comm comm, const struct sockets_settings *settings,
                       struct refusal *refusal);

/* Collective over two ranks. Connects rank 1 to rank 0 and returns the connection. */
int sockets_connect(MPI_Comm comm, const struct sockets_settings *settings);

void sockets_close(int connection);

void sockets_send(int connection, const void *message, size_t bytes);

/* What a receiver does while it waits. */
enum sockets_wait { SOCKETS_SLEEP, SOCKETS_POLL };

/* Returns when the whole message has arrived. */
void sockets_receive(int connection, void *message, size_t bytes, enum sockets_wait wait);

#endif
