/* How long this process ran, and how long the cores that it may use worked for anyone. */
#ifndef SWITCHPOINT_CORE_TIMES_H
#define SWITCHPOINT_CORE_TIMES_H

#include "json.h"

/* Adds `cpu_time_us`, `cores_busy_us` and `cores_softirq_us`, counted from start and boot; those of
 * the cores only where /proc/stat shows them. */
void core_times_write(struct json *json);

#endif
