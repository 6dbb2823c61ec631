/* The record's samples: column names and one row per sample (docs/reference/run-record.md). */
#ifndef SWITCHPOINT_ROWS_H
#define SWITCHPOINT_ROWS_H

#include <stdio.h>

#include "session.h"

/* Writes the line of column names. */
void column_names_write(FILE *out, const struct kernel *kernel);

/* On rank 0: adds the visit's samples to its point, and writes a row for each sample that is kept
 * into the record. */
void rows_add(struct session *session, struct point *point, int pass);

#endif
