/* The endpoints of UCX through which this rank reaches others, where the MPI library uses UCX. */
#ifndef SWITCHPOINT_UCX_ENDPOINTS_H
#define SWITCHPOINT_UCX_ENDPOINTS_H

#include <stdbool.h>

#include "json.h"

/* Whether the MPI library has opened one and not closed it. */
bool ucx_has_endpoints(void);

/* Writes an array of the endpoints that are open, without those of a rank to itself, which have a
 * lane of the transport `self`. Those with equal lanes and protocols are one entry. */
void ucx_endpoints_write(struct json *json, const char *key);

#endif
