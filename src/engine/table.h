/* The table for people on standard output. */
#ifndef SWITCHPOINT_TABLE_H
#define SWITCHPOINT_TABLE_H

#include <stdio.h>

#include "plan.h"

/* One line per point: quantiles over the kept samples, in us per message. Sorts them. */
void table_print(FILE *out, const struct plan *plan);

#endif
