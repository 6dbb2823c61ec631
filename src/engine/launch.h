/* How many ranks were started, and whether the kernel can use them. */
#ifndef SWITCHPOINT_LAUNCH_H
#define SWITCHPOINT_LAUNCH_H

#include <stdbool.h>

#include "kernel.h"

/* How many processes the launcher says that it started; 0 where it says nothing. Call it before
 * MPI_Init, in which Open MPI sets such variables itself. */
int processes_started(void);

/* Refuses a number of ranks that the kernel cannot use. */
bool ranks_suit(const struct kernel *kernel, int started, int ranks, struct refusal *refusal);

#endif
