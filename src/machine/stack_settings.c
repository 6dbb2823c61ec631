/* The settings of one library below MPI, as its part of the record lists them. */
#include "stack_settings.h"

#include <stdlib.h>
#include <string.h>

#include "home_directory.h"
#include "memory.h"

void stack_settings_add(struct stack_settings *settings, const char *name, const char *value,
                        bool is_size)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->list[i].name, name) == 0) {
            return;
        }
    }
    if (settings->count == settings->capacity) {
        settings->capacity = 2 * settings->capacity + 64;
        settings->list = reallocate(settings->list, settings->capacity * sizeof settings->list[0]);
    }
    settings->list[settings->count++] =
        (struct stack_setting){.name = name, .value = value, .is_size = is_size};
}

void stack_settings_write(struct json *json, const char *key, const char *version,
                          const struct stack_settings *settings)
{
    json_open(json, key, '{');
    json_string(json, "version", version);
    json_open(json, "settings", '{');
    for (size_t i = 0; i < settings->count; i++) {
        json_string_without_home(json, settings->list[i].name, settings->list[i].value);
    }
    json_close(json, '}');
    json_open(json, "sizes", '[');
    for (size_t i = 0; i < settings->count; i++) {
        if (settings->list[i].is_size) {
            json_string(json, NULL, settings->list[i].name);
        }
    }
    json_close(json, ']');
    json_close(json, '}');
}

void stack_settings_free(struct stack_settings *settings)
{
    free(settings->list);
    *settings = (struct stack_settings){0};
}
