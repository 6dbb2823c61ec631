/* Which protocol UCX has chosen for which sizes, where the MPI library uses it: UCX writes tables
 * to its log if its variable UCX_PROTO_INFO says so. */
#ifndef SWITCHPOINT_UCX_PROTOCOLS_H
#define SWITCHPOINT_UCX_PROTOCOLS_H

#include "json.h"

/* Before MPI_Init: asks UCX for its tables, and keeps what this process prints from now on. */
void ucx_protocols_ask(void);

/* After MPI_Init: takes the variable out of the environment again, which the record shows. */
void ucx_protocols_asked(void);

/* Writes an array of the tables of this rank's sends; empty where UCX has reported nothing. */
void ucx_protocols_write(struct json *json, const char *key);

/* Prints what was kept and is no table, and keeps nothing from now on. Does nothing if UCX was not
 * asked. */
void ucx_protocols_end(void);

#endif
