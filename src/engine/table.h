/* The table for people on standard output. */
#ifndef SWITCHPOINT_TABLE_H
#define SWITCHPOINT_TABLE_H

#include <stdio.h>

#include "plan.h"

/* One line per point, once its samples are sorted: quantiles over those kept, in us per message. */
void table_print(FILE *out, const struct plan *plan);

#endif
