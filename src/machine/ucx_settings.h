/* All settings of UCX, where the MPI library uses it. */
#ifndef SWITCHPOINT_UCX_SETTINGS_H
#define SWITCHPOINT_UCX_SETTINGS_H

#include "json.h"

/* Writes UCX's version and settings, or null where this process has no endpoint of UCX. */
void ucx_settings_write(struct json *json, const char *key);

#endif
