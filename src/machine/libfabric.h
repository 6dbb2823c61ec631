/* All settings of libfabric, where the MPI library uses it. */
#ifndef SWITCHPOINT_LIBFABRIC_H
#define SWITCHPOINT_LIBFABRIC_H

#include "json.h"

/* Writes libfabric's version and settings, or null where this process has not initialised it. */
void libfabric_write(struct json *json, const char *key);

#endif
