/* The machine's sockets, cores, caches and memory, as hwloc sees them, and this rank's place in it.
 */
#ifndef SWITCHPOINT_TOPOLOGY_H
#define SWITCHPOINT_TOPOLOGY_H

#include "json.h"

/* Writes the topology object of the run record; null in a build without hwloc. */
void topology_write(struct json *json, const char *key);

#endif
