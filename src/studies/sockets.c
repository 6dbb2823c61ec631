/* TCP between two ranks, without a message-passing library. */
#include "sockets.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abort_job.h"
#include "agreement.h"
#include "mpi_check.h"

enum { EXIT_SYSTEM_ERROR = 3 };

static int listen_anywhere(struct sockaddr_in *address);
static bool own_address(const struct sockets_settings *settings, struct in_addr *address);
static _Noreturn void fail(const char *call, const char *reason);

/* Ends the job when a system call returned -1. */
static int checked(const char *call, int result)
{
    if (result < 0) {
        fail(call, strerror(errno));
    }
    return result;
}

int sockets_connect(MPI_Comm comm, const struct sockets_settings *settings)
{
    int rank = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));

    struct sockaddr_in address = {.sin_family = AF_INET};
    int listener = -1;
    if (rank == 0) {
        listener = listen_anywhere(&address);
        if (!own_address(settings, &address.sin_addr)) {
            fail("getaddrinfo", "the host's name has no IPv4 address any more");
        }
    }
    MPI_CHECK(MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, comm));

    int connection = -1;
    if (rank == 0) {
        connection = checked("accept", accept(listener, NULL, NULL));
        close(listener);
    } else {
        connection = checked("socket", socket(AF_INET, SOCK_STREAM, 0));
        checked("connect", connect(connection, (const struct sockaddr *)&address, sizeof address));
    }
    const int on = 1;
    checked("setsockopt", setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
    return connection;
}

static int listen_anywhere(struct sockaddr_in *address)
{
    const int listener = checked("socket", socket(AF_INET, SOCK_STREAM, 0));
    socklen_t length = sizeof *address;
    checked("bind", bind(listener, (const struct sockaddr *)address, length));
    checked("listen", listen(listener, 1));
    checked("getsockname", getsockname(listener, (struct sockaddr *)address, &length));
    return listener;
}

bool sockets_available(MPI_Comm comm, const struct sockets_settings *settings,
                       struct refusal *refusal)
{
    static bool found; /* once is enough for all points */
    struct in_addr address;
    found = found || root_says(comm, own_address(settings, &address));
    return found || refuse(refusal, "--interface: the host's name has no IPv4 address; name an "
                                    "interface that has one");
}

static bool own_address(const struct sockets_settings *settings, struct in_addr *address)
{
    if (settings->interface != NULL) {
        return sockets_address_of(settings->interface, address);
    }
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    const struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(name, NULL, &wanted, &found) != 0) {
        return false;
    }
    struct sockaddr_in first;
    memcpy(&first, found->ai_addr, sizeof first);
    *address = first.sin_addr;
    freeaddrinfo(found);
    return true;
}

bool sockets_address_of(const char *interface, struct in_addr *address)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) {
        return false;
    }
    bool found = false;
    for (const struct ifaddrs *one = all; one != NULL && !found; one = one->ifa_next) {
        found = one->ifa_addr != NULL && one->ifa_addr->sa_family == AF_INET &&
                strcmp(one->ifa_name, interface) == 0;
        if (found && address != NULL) {
            struct sockaddr_in own;
            memcpy(&own, one->ifa_addr, sizeof own);
            *address = own.sin_addr;
        }
    }
    freeifaddrs(all);
    return found;
}

void sockets_close(int connection)
{
    checked("close", close(connection));
}

void sockets_send(int connection, const void *message, size_t bytes)
{
    const unsigned char *next = message;
    size_t sent = 0;
    while (sent < bytes) {
        const ssize_t count = send(connection, next + sent, bytes - sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            fail("send", strerror(errno));
        }
        sent += count > 0 ? (size_t)count : 0;
    }
}

void sockets_receive(int connection, void *message, size_t bytes, enum sockets_wait wait)
{
    unsigned char *next = message;
    const int flags = wait == SOCKETS_POLL ? MSG_DONTWAIT : MSG_WAITALL;
    size_t received = 0;
    while (received < bytes) {
        const ssize_t count = recv(connection, next + received, bytes - received, flags);
        if (count == 0) {
            fail("recv", "the peer has closed the connection");
        }
        if (count < 0 && errno != EINTR && errno != EAGAIN) {
            fail("recv", strerror(errno));
        }
        received += count > 0 ? (size_t)count : 0;
    }
}

static _Noreturn void fail(const char *call, const char *reason)
{
    abort_job(MPI_COMM_WORLD, EXIT_SYSTEM_ERROR, "switchpoint: %s failed: %s", call, reason);
}
