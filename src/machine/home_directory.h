/* Values of settings without the name of the user, which has nothing to do with MPI. */
#ifndef SWITCHPOINT_HOME_DIRECTORY_H
#define SWITCHPOINT_HOME_DIRECTORY_H

#include "json.h"

/* Writes a string, with ~ where a path in it begins with the user's home directory. */
void json_string_without_home(struct json *json, const char *key, const char *value);

#endif
