/* The settings of what lies below MPI in this process, and the parts of it that are in use. */
#ifndef SWITCHPOINT_MPI_STACK_H
#define SWITCHPOINT_MPI_STACK_H

#include "json.h"

/* Writes an object: UCX's and libfabric's settings, Open MPI's components, the kernel's TCP. */
void mpi_stack_write(struct json *json, const char *key);

#endif
