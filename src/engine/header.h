/* The record's first line: what runs where, and what it plans (docs/reference/run-record.md). */
#ifndef SWITCHPOINT_HEADER_H
#define SWITCHPOINT_HEADER_H

#include "json.h"
#include "session.h"

/* Collective. Writes the header on rank 0. */
void header_write(struct json *json, const struct session *session);

#endif
