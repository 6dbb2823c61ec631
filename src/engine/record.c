/* The run record on disk: rows as they are measured; only a complete record gets its name. */
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "memory.h"

static const char PARTIAL[] = ".partial";

bool record_open(struct record *record, const char *path, struct refusal *refusal)
{
    *record = (struct record){.path = path};
    if (path == NULL) {
        return true;
    }
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return refuse(refusal, "--record: %s is not a regular file; name a file", path);
    }
    const size_t length = strlen(path);
    record->partial_path = allocate(length + sizeof PARTIAL, 1);
    memcpy(record->partial_path, path, length);
    memcpy(record->partial_path + length, PARTIAL, sizeof PARTIAL);
    record->file = fopen(record->partial_path, "we");
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
