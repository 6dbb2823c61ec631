/* Values of settings without the name of the user, which has nothing to do with MPI. */
#include "home_directory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Whether a path begins or ends here, in a list of them. */
static bool between_paths(char c)
{
    return strchr(":,; =", c) != NULL; /* '\0' too */
}

void json_string_without_home(struct json *json, const char *key, const char *value)
{
    const char *home = getenv("HOME");
    const size_t length = home != NULL ? strlen(home) : 0;
    if (value == NULL || length <= 1) {
        json_string(json, key, value);
        return;
    }
    char *shown = allocate(strlen(value) + 1, 1);
    char *end = shown;
    char before = '\0';
    while (*value != '\0') {
        if (between_paths(before) && strncmp(value, home, length) == 0 &&
            (value[length] == '/' || between_paths(value[length]))) {
            *end++ = '~';
            value += length;
        } else {
            *end++ = *value++;
        }
        before = value[-1];
    }
    json_string(json, key, shown);
    free(shown);
}
