/* Preloaded: calls on files whose path contains $FAIL_ON fail with the number $FAIL_WITH.

   $FAIL_AT names the call: open (also of a folder that is listed), read or flock. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_wanted(const char *call, const char *path)
{
    const char *at = getenv("FAIL_AT"), *on = getenv("FAIL_ON");
    return at && on && path && strstr(at, call) && strstr(path, on);
}

static int fails(const char *call, const char *path)
{
    if (!is_wanted(call, path))
        return 0;
    errno = atoi(getenv("FAIL_WITH"));
    return 1;
}

static int fails_at(const char *call, int file)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return fails(call, path);
}

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = va_arg(rest, mode_t);                                                        \
        va_end(rest);                                                                              \
        if (fails("open", path))                                                                   \
            return -1;                                                                             \
        return REAL(name)(path, flags, mode);                                                      \
    }
OPEN(open)
OPEN(open64)

DIR *opendir(const char *path)
{
    return fails("open", path) ? NULL : REAL(opendir)(path);
}

int flock(int file, int operation)
{
    return fails_at("flock", file) ? -1 : REAL(flock)(file, operation);
}

ssize_t read(int file, void *buffer, size_t count)
{
    return fails_at("read", file) ? -1 : REAL(read)(file, buffer, count);
}

ssize_t pread(int file, void *buffer, size_t count, off_t place)
{
    return fails_at("read", file) ? -1 : REAL(pread)(file, buffer, count, place);
}

ssize_t pread64(int file, void *buffer, size_t count, off64_t place)
{
    return fails_at("read", file) ? -1 : REAL(pread64)(file, buffer, count, place);
}
