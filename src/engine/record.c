/* The run record on disk: rows as they are measured; only a complete record gets its name. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "memory.h"

static const char PARTIAL[] = ".partial";

/* Nothing is there, or a file itself: no link, pipe or device. */
static bool is_free_for_a_file(const char *path)
{
    struct stat status;
    return lstat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* Creates a file in the place of what an earlier run left, and follows no link. */
static FILE *create(const char *path)
{
    enum { READ_AND_WRITE_ALL = 0666 };
    if (unlink(path) != 0 && errno != ENOENT) {
        return NULL;
    }
    const int created =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, READ_AND_WRITE_ALL);
    return created < 0 ? NULL : fdopen(created, "w");
}

bool record_open(struct record *record, const char *path, struct refusal *refusal)
{
    *record = (struct record){.path = path};
    if (path == NULL) {
        return true;
    }
    if (!is_free_for_a_file(path)) {
        return refuse(refusal, "--record: %s is not a regular file; name a file", path);
    }
    const size_t length = strlen(path);
    record->partial_path = allocate(length + sizeof PARTIAL, 1);
    memcpy(record->partial_path, path, length);
    memcpy(record->partial_path + length, PARTIAL, sizeof PARTIAL);
    if (!is_free_for_a_file(record->partial_path)) {
        return refuse(refusal,
                      "--record: %s is not a regular file; remove it, or name another file",
                      record->partial_path);
    }
    record->file = create(record->partial_path);
    if (record->file == NULL) {
        return refuse(refusal, "--record: cannot write %s: %s; name a file in a writable folder",
                      record->partial_path, strerror(errno));
    }
    return true;
}

static bool failed(const struct record *record)
{
    fprintf(stderr, "switchpoint: --record: cannot write %s: %s; %s holds what was written\n",
            record->path, strerror(errno), record->partial_path);
    return false;
}

bool record_flush(struct record *record)
{
    if (record->file == NULL) {
        return true;
    }
    errno = 0;
    return (fflush(record->file) == 0 && !ferror(record->file)) || failed(record);
}

void record_keep_up(struct record *record)
{
    static const double SECOND_US = 1e6;
    const double now_us = clock_us();
    if (record->file != NULL && now_us - record->flushed_us >= SECOND_US) {
        fflush(record->file); /* the file remembers an error */
        record->flushed_us = now_us;
    }
}

bool record_finish(struct record *record)
{
    if (record->file == NULL) {
        return true;
    }
    const bool on_disk = record_flush(record);
    const bool synced = on_disk && (fsync(fileno(record->file)) == 0 || failed(record));
    const bool closed = fclose(record->file) == 0 || !synced || failed(record);
    record->file = NULL;
    if (!synced || !closed) {
        return false;
    }
    return rename(record->partial_path, record->path) == 0 || failed(record);
}

void record_free(struct record *record)
{
    if (record->file != NULL) {
        fclose(record->file);
    }
    free(record->partial_path);
    *record = (struct record){0};
}
