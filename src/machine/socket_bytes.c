/* The bytes of this process's own sockets (tcp(7), TCP_INFO). */
#include "socket_bytes.h"

#include <dirent.h>
#include <limits.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

struct carried {
    long long tcp_bytes;
    int untold;
    bool counted;
};

static int left_untold;

static void add_socket(int file, struct carried *carried);

void socket_bytes_leave_untold(void)
{
    left_untold++;
}

void socket_bytes_write(struct json *json)
{
    DIR *files = opendir("/proc/self/fd");
    if (files == NULL) {
        return;
    }
    struct carried carried = {.untold = left_untold, .counted = true};
    for (const struct dirent *entry = readdir(files); entry != NULL; entry = readdir(files)) {
        const long file = strtol(entry->d_name, NULL, 10); /* "." and ".." give standard input */
        if (entry->d_name[0] != '.' && file >= 0 && file <= INT_MAX) {
            add_socket((int)file, &carried);
        }
    }
    closedir(files);
    if (carried.counted) {
        json_integer(json, "tcp_socket_bytes", carried.tcp_bytes);
        json_integer(json, "untold_sockets", carried.untold);
    }
}

static int socket_option(int file, int option)
{
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(file, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

/* Local sockets (AF_UNIX) and the kernel's own (AF_NETLINK) carry nothing between machines. */
static void add_socket(int file, struct carried *carried)
{
    const int domain = socket_option(file, SO_DOMAIN);
    if (domain < 0 || domain == AF_UNIX || domain == AF_NETLINK) {
        return;
    }
    if (socket_option(file, SO_PROTOCOL) != IPPROTO_TCP) {
        carried->untold++;
        return;
    }
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    const size_t needed = offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(__u64);
    if (getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < needed) {
        carried->counted = false;
        return;
    }
    carried->tcp_bytes += (long long)(info.tcpi_bytes_acked + info.tcpi_bytes_received);
}
