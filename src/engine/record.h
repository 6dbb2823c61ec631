/* The run record on disk: rows as they are measured; only a complete record gets its name. */
#ifndef SWITCHPOINT_RECORD_H
#define SWITCHPOINT_RECORD_H

#include <stdbool.h>
#include <stdio.h>

#include "refusal.h"

/* A record in progress. All zero when no record was asked for: every call then succeeds. */
struct record {
    const char *path;
    char *partial_path; /* its name until it is complete */
    FILE *file;         /* write to it when not NULL; record_flush reports errors */
    double flushed_us;  /* when record_keep_up last did so */
};

/* Opens PATH.partial. Refuses a path that cannot be written or is not a regular file. */
bool record_open(struct record *record, const char *path, struct refusal *refusal);

/* Passes everything written so far to the system. On an error, such as a full disk: false, with a
 * line on stderr; PATH.partial keeps what was written. */
bool record_flush(struct record *record);

/* The same, but at most once in a second, and errors are left to the next record_flush. */
void record_keep_up(struct record *record);

/* Writes the record to disk and renames it to PATH. False, with a line on stderr, on any error. */
bool record_finish(struct record *record);

void record_free(struct record *record);

#endif
