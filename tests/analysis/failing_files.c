/* Preloaded: calls on files whose path contains $FAIL_ON fail with the number $FAIL_WITH.

   $FAIL_AT names the call: open (also of a folder that is listed), read or flock. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_wanted(const char *call, const char *path)
{
    const char *at = getenv("FAIL_AT");
    const char *on = getenv("FAIL_ON");
    return at != NULL && on != NULL && path != NULL && strstr(at, call) != NULL &&
           strstr(path, on) != NULL;
}

static bool fails(const char *call, const char *path)
{
    const char *number = getenv("FAIL_WITH");
    if (!is_wanted(call, path) || number == NULL) {
        return false;
    }
    errno = (int)strtol(number, NULL, 10);
    return true;
}

static bool fails_at(const char *call, int file)
{
    char descriptor[64];
    char target[4096];
    snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(descriptor, target, sizeof target - 1);
    if (length < 0) {
        return false;
    }
    target[length] = '\0';
    return fails(call, target);
}

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc names them otherwise
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        const mode_t mode = va_arg(rest, mode_t);                                                  \
        va_end(rest);                                                                              \
        if (fails("open", path)) {                                                                 \
            return -1;                                                                             \
        }                                                                                          \
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
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
