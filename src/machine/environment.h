/* The environment variables that configure the MPI library, and those that describe the Slurm job.
 */
#ifndef SWITCHPOINT_ENVIRONMENT_H
#define SWITCHPOINT_ENVIRONMENT_H

#include "json.h"

void environment_write_mpi(struct json *json, const char *key);
void environment_write_slurm(struct json *json, const char *key);

#endif
