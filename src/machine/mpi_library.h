/* Which MPI library this is, and its own settings: its control variables, read through MPI_T. */
#ifndef SWITCHPOINT_MPI_LIBRARY_H
#define SWITCHPOINT_MPI_LIBRARY_H

#include <mpi.h>

#include "json.h"

/* The first line of the library's version string. */
void mpi_library_name(char name[MPI_MAX_LIBRARY_VERSION_STRING]);

/* Writes an object with the value of every readable control variable that needs no MPI object. */
void mpi_library_write_cvars(struct json *json, const char *key);

#endif
