/* Replaces what puts a file on the disk by a disk that is full. */
#include <errno.h>
#include <unistd.h>

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved */
int fsync(int file)
{
    (void)file;
    errno = ENOSPC;
    return -1;
}
