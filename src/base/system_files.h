/* Reading single lines of /proc and /sys. */
#ifndef SWITCHPOINT_SYSTEM_FILES_H
#define SWITCHPOINT_SYSTEM_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Copies the first line of the file that starts with `prefix`, without its newline; false when the
 * file cannot be read or has no such line. */
bool system_line(const char *path, const char *prefix, char *line, size_t capacity);

#endif
