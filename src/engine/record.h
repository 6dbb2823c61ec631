/* The run record on disk: rows as they are measured, and a name that only a whole record bears. */
#ifndef SWITCHPOINT_RECORD_H
#define SWITCHPOINT_RECORD_H

#include <stdbool.h>
#include <stdio.h>

#include "refusal.h"

/* A record being written; all zero when none is wanted, and every call then succeeds. */
struct record {
    const char *path;
    char *partial_path; /* what it is called until it is whole */
    FILE *file;         /* write to it when not NULL; errors show in record_flush */
};

/* Opens PATH.partial. Refuses a path that cannot be written or is no regular file. */
bool record_open(struct record *record, const char *path, struct refusal *refusal);

/* Hands everything written so far to the system. False, with a line on stderr, when the disk did
 * not take it; what it did take stays in PATH.partial. */
bool record_flush(struct record *record);

/* Puts the record on disk and renames it to PATH. False, with a line on stderr, on any error. */
bool record_finish(struct record *record);

void record_free(struct record *record);

#endif
