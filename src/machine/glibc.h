/* The C library's tunables in use: from some of these sizes on it copies messages otherwise. */
#ifndef SWITCHPOINT_GLIBC_H
#define SWITCHPOINT_GLIBC_H

#include "json.h"

/* Writes an object of version, `sizes`, `settings` and `cpu_flags`; null with another C library. */
void glibc_write(struct json *json, const char *key);

#endif
