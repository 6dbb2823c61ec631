/* The current conditions on this rank's machine: load, stolen time, context switches, traffic. */
#ifndef SWITCHPOINT_CONDITIONS_H
#define SWITCHPOINT_CONDITIONS_H

#include "json.h"

/* Writes the conditions object of the run record. */
void conditions_write(struct json *json, const char *key);

#endif
