/* The settings of one library below MPI, as its part of the record lists them. */
#ifndef SWITCHPOINT_STACK_SETTINGS_H
#define SWITCHPOINT_STACK_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"

struct stack_setting {
    const char *name;
    const char *value; /* or NULL */
    bool is_size;
};

struct stack_settings {
    struct stack_setting *list;
    size_t count;
    size_t capacity;
};

/* Adds a setting whose texts live until the settings are written. The first of a name counts. */
void stack_settings_add(struct stack_settings *settings, const char *name, const char *value,
                        bool is_size);

/* Writes an object of version, `settings` and the names of the `sizes` among them. */
void stack_settings_write(struct json *json, const char *key, const char *version,
                          const struct stack_settings *settings);

void stack_settings_free(struct stack_settings *settings);

#endif
