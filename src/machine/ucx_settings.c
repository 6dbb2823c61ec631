/* All settings of UCX, where the MPI library uses it: UCX prints its configuration, as ucx_info -c
 * does, for the transports that it has loaded into this process. */
#include "ucx_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaded_library.h"
#include "stack_settings.h"
#include "ucx_endpoints.h"

/* What the second function prints: values, with comments that name their syntax. Deprecated names
 * and aliases are hidden. */
enum { PRINT_VALUES = 1, PRINT_COMMENTS = 4 };

typedef void get_version(unsigned *major, unsigned *minor, unsigned *release);
/* Versions before 1.16 ignore the filter. */
typedef void print_options(FILE *stream, const char *prefix, int flags, void *options,
                           const char *filter);

/* What UCX prints; free it. NULL where this UCX has no such function. */
static char *printed(const unsigned version[3])
{
    print_options *print =
        (print_options *)as_function(loaded_symbol("libucs", "ucs_config_parser_print_all_opts"));
    void *options = loaded_symbol("libucs", "ucs_config_global_list");
    const bool has_prefix = version[0] == 1 && version[1] >= 9; /* its arguments */
    if (print == NULL || options == NULL || !has_prefix) {
        return NULL;
    }
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL) {
        return NULL;
    }
    print(stream, "UCX_", PRINT_VALUES | PRINT_COMMENTS, options, NULL);
    fclose(stream);
    return text;
}

/* Comments stand above the setting; the last line that says something is its syntax:
 * # syntax:    memory units: <number>[b|kb|mb|gb], "inf", or "auto"
 */
static void read_settings(struct stack_settings *settings, char *text)
{
    static const char SYNTAX[] = "# syntax:";
    bool is_size = false;
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        char *equals = strchr(line, '=');
        if (strncasecmp(line, SYNTAX, strlen(SYNTAX)) == 0) {
            const char *syntax = line + strlen(SYNTAX);
            syntax += strspn(syntax, " ");
            is_size = strncmp(syntax, "memory units", strlen("memory units")) == 0;
        } else if (strncmp(line, "UCX_", strlen("UCX_")) == 0 && equals != NULL) {
            *equals = '\0';
            stack_settings_add(settings, line, equals + 1, is_size);
            is_size = false;
        }
    }
}

void ucx_settings_write(struct json *json, const char *key)
{
    get_version *version_of =
        (get_version *)as_function(loaded_symbol("libucp", "ucp_get_version"));
    if (!ucx_has_endpoints() || version_of == NULL) {
        json_string(json, key, NULL);
        return;
    }
    unsigned version[3] = {0};
    char name[64];
    version_of(&version[0], &version[1], &version[2]);
    snprintf(name, sizeof name, "%u.%u.%u", version[0], version[1], version[2]);
    struct stack_settings settings = {0};
    char *text = printed(version);
    if (text != NULL) {
        read_settings(&settings, text);
    }
    stack_settings_write(json, key, name, &settings);
    stack_settings_free(&settings);
    free(text);
}
