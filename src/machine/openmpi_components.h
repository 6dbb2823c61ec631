/* Which components Open MPI has selected for messages between two ranks. */
#ifndef SWITCHPOINT_OPENMPI_COMPONENTS_H
#define SWITCHPOINT_OPENMPI_COMPONENTS_H

#include "json.h"

/* Writes an object: the names of the components in use of the frameworks `pml`, `mtl` and `btl`.
 * Empty where this is not Open MPI, or one whose structures we do not know. */
void openmpi_components_write(struct json *json, const char *key);

#endif
