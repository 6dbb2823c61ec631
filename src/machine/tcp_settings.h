/* The settings of the kernel's TCP. */
#ifndef SWITCHPOINT_TCP_SETTINGS_H
#define SWITCHPOINT_TCP_SETTINGS_H

#include "json.h"

/* Writes an object of those that matter to the time of a message, as far as this kernel has them:
 * a number, an array of numbers, or a text. */
void tcp_settings_write(struct json *json, const char *key);

#endif
