/* The settings of what lies below MPI in this process, and the parts of it that are in use. */
#ifndef SWITCHPOINT_MPI_STACK_H
#define SWITCHPOINT_MPI_STACK_H

#include "json.h"

/* Writes an object: the settings of UCX, libfabric, the kernel's TCP and glibc, and Open MPI's
 * components. */
void mpi_stack_write(struct json *json, const char *key);

#endif
