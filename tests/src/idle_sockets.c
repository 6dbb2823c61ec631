/* Calls that replace the kernel's sockets: they report success and transfer nothing. */
#include "sockets.h"

bool sockets_address_of(const char *interface, struct in_addr *address)
{
    (void)interface, (void)address;
    return true;
}

bool sockets_available(MPI_Comm comm, const struct sockets_settings *settings,
                       struct refusal *refusal)
{
    (void)comm, (void)settings, (void)refusal;
    return true;
}

int sockets_connect(MPI_Comm comm, const struct sockets_settings *settings)
{
    (void)comm, (void)settings;
    return 0;
}

void sockets_close(int connection)
{
    (void)connection;
}

void sockets_send(int connection, const void *message, size_t bytes)
{
    (void)connection, (void)message, (void)bytes;
}

void sockets_receive(int connection, void *message, size_t bytes, enum sockets_wait wait)
{
    (void)connection, (void)message, (void)bytes, (void)wait;
}
