/* How many ranks were started, and whether the kernel can use them. */
#ifndef SWITCHPOINT_LAUNCH_H
#define SWITCHPOINT_LAUNCH_H

#include <mpi.h>
#include <stdbool.h>

#include "kernel.h"

/* How many processes the launcher says that it started; 0 where it says nothing. Call it before
 * MPI_Init, in which Open MPI sets such variables itself. */
int processes_started(void);

/* Collective. Refuses ranks that were started with different kernels or arguments, as a colon in
 * a launcher's command starts them: a time would be that of neither. */
bool ranks_agree(MPI_Comm comm, const struct kernel *kernel, int argc, char **argv,
                 struct refusal *refusal);

/* Refuses a number of ranks that the kernel cannot use. */
bool ranks_suit(const struct kernel *kernel, int started, int ranks, struct refusal *refusal);

#endif
