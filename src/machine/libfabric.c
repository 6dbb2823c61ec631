/* All settings of libfabric, where the MPI library uses it. libfabric knows only values that the
 * environment sets: those that its providers choose themselves are null. */
#include "libfabric.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "loaded_library.h"
#include "stack_settings.h"

enum { TYPE_INT = 1, TYPE_SIZE_T = 3 }; /* enum fi_param_type */

enum { NO_SUCH_NAME = -2 }; /* -FI_ENOENT */

struct fi_param {
    const char *name;
    int type;
    const char *help;
    const char *value;
};

typedef uint32_t get_version(void);
typedef int get_one(void *provider, const char *name, void *value);
typedef int get_all(struct fi_param **parameters, int *count);
typedef void free_all(struct fi_param *parameters);

/* Asks for a setting that libfabric defines when it starts, since fi_getparams would start it:
 * that loads every provider. */
static bool is_initialised(void)
{
    union {
        char *text;
        int64_t number;
    } value = {.number = 0};
    get_one *get = (get_one *)as_function(loaded_symbol("libfabric", "fi_param_get"));
    return get != NULL && get(NULL, "provider", &value) != NO_SUCH_NAME;
}

void libfabric_write(struct json *json, const char *key)
{
    get_version *version_of = (get_version *)as_function(loaded_symbol("libfabric", "fi_version"));
    get_all *get = (get_all *)as_function(loaded_symbol("libfabric", "fi_getparams"));
    free_all *release = (free_all *)as_function(loaded_symbol("libfabric", "fi_freeparams"));
    struct fi_param *parameters = NULL;
    int count = 0;
    if (version_of == NULL || get == NULL || release == NULL || !is_initialised() ||
        get(&parameters, &count) != 0 || parameters == NULL) {
        json_string(json, key, NULL);
        return;
    }
    char version[32];
    snprintf(version, sizeof version, "%u.%u", version_of() >> 16, version_of() & 0xffff);
    struct stack_settings settings = {0};
    for (int i = 0; i < count; i++) {
        const struct fi_param *parameter = &parameters[i];
        stack_settings_add(&settings, parameter->name, parameter->value,
                           parameter->type == TYPE_INT || parameter->type == TYPE_SIZE_T);
    }
    stack_settings_write(json, key, version, &settings);
    stack_settings_free(&settings);
    release(parameters);
}
