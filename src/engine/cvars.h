/* The MPI library's own settings: its control variables, read through MPI_T. */
#ifndef SWITCHPOINT_CVARS_H
#define SWITCHPOINT_CVARS_H

#include "json.h"

/* Writes an object with the value of every readable control variable that needs no MPI object. */
void cvars_write(struct json *json, const char *key);

#endif
