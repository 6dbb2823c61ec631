/* What standard output and standard error say about a run when it ends. */
#ifndef SWITCHPOINT_OUTCOME_H
#define SWITCHPOINT_OUTCOME_H

#include "session.h"
#include "totals.h"

/* On rank 0. Prints the table of points or what the kernel found, payload errors, and the last
 * line, which scripts look for. Returns whether all of it was written; if not, a line says so. */
bool outcome_print(const struct session *session, const struct totals *totals);

#endif
