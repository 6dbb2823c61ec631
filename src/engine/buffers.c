/* The message buffers: where in a page the user wants them, if the host has memory for them. */
#include "buffers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_check.h"
#include "system_files.h"

static const double GIB = 1024.0 * 1024.0 * 1024.0;

/* The share of the available memory that buffers may take: MPI needs some for itself. */
static const double USABLE_SHARE = 0.9;

/* MemAvailable in bytes; negative where the system does not say. */
static double available_bytes(void)
{
    char line[256];
    if (!system_line("/proc/meminfo", "MemAvailable:", line, sizeof line)) {
        return -1;
    }
    return strtod(line + strlen("MemAvailable:"), NULL) * 1024;
}

/* Linux grants more memory than it has and kills processes that touch it, so a successful malloc
 * says nothing. */
static bool fits_host(MPI_Comm comm, double bytes, struct refusal *refusal)
{
    MPI_Comm host = MPI_COMM_NULL;
    double host_bytes = 0;
    MPI_CHECK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    MPI_CHECK(MPI_Allreduce(&bytes, &host_bytes, 1, MPI_DOUBLE, MPI_SUM, host));
    MPI_CHECK(MPI_Comm_free(&host));

    const double available = available_bytes();
    if (available >= 0 && host_bytes > available * USABLE_SHARE) {
        char name[65] = "this host";
        gethostname(name, sizeof name - 1);
        return refuse(
            refusal,
            "--sizes: the largest message needs %.1f GiB of buffers on %s, which has "
            "%.1f GiB available; choose smaller --sizes or a smaller --window or --rotate",
            host_bytes / GIB, name, available / GIB);
    }
    return true;
}

static unsigned char *touched_pages(size_t bytes, size_t offset_bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole_pages = ((offset_bytes + bytes) / page + 1) * page;
    void *block = NULL;
    if (posix_memalign(&block, page, whole_pages) != 0) {
        return NULL;
    }
    memset(block, 0, whole_pages);
    return (unsigned char *)block + offset_bytes;
}

void message_buffer_free(unsigned char *buffer, size_t offset_bytes)
{
    if (buffer != NULL) {
        free(buffer - offset_bytes);
    }
}

bool message_buffers(MPI_Comm comm, size_t send_bytes, size_t receive_bytes, size_t offset_bytes,
                     unsigned char **send, unsigned char **receive, struct refusal *refusal)
{
    if (!fits_host(comm, (double)send_bytes + (double)receive_bytes, refusal)) {
        return false;
    }
    *send = touched_pages(send_bytes, offset_bytes);
    *receive = touched_pages(receive_bytes, offset_bytes);
    if (*send == NULL || *receive == NULL) {
        return refuse(
            refusal,
            "--sizes: not enough memory for buffers of %.1f GiB; choose smaller --sizes or a "
            "smaller --window or --rotate",
            ((double)send_bytes + (double)receive_bytes) / GIB);
    }
    return true;
}
