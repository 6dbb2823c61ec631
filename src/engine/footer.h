/* The record's last line: what was found and verified (docs/reference/run-record.md). */
#ifndef SWITCHPOINT_FOOTER_H
#define SWITCHPOINT_FOOTER_H

#include "json.h"
#include "session.h"
#include "totals.h"

/* Collective. Writes the footer on rank 0. */
void footer_write(struct json *json, const struct session *session, const struct totals *totals);

#endif
