/* The C library's tunables in use: from some of these sizes on it copies messages otherwise.
 * Defaults depend on version, distribution and processor, so its loader is asked. */
#include "glibc.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaded_library.h"
#include "system_files.h"

/* The sizes from which on memcpy copies with `rep movsb`, and past the caches: glibc's manual,
 * "Hardware Capability Tunables". */
static const char *const COPY_SIZES[] = {"glibc.cpu.x86_rep_movsb_threshold",
                                         "glibc.cpu.x86_non_temporal_threshold"};

/* Of a line of /proc/cpuinfo: those of the newest processors have 2 KiB. */
enum { FLAGS_LENGTH = 8192 };

typedef const char *get_version(void);

/* The file of the loader that has tunables; NULL where none has. */
static const char *loader(void)
{
    Dl_info object;
    const void *tunables = dlsym(RTLD_DEFAULT, "__tunable_get_val");
    return tunables != NULL && dladdr(tunables, &object) != 0 ? object.dli_fname : NULL;
}

/* Starts the loader so that it writes into a pipe. No copy of this process is made: memory may be
 * registered with a network adapter. */
static pid_t start_listing(const char *program, int output)
{
    char option[] = "--list-tunables";
    char *words[] = {strdup(program), option, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    if (posix_spawn_file_actions_init(&actions) == 0) {
        if (posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) != 0 ||
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) !=
                0 ||
            posix_spawn(&child, program, &actions, NULL, words, environ) != 0) {
            child = -1;
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    free(words[0]);
    return child;
}

/* What the loader prints of its tunables; NULL if it prints nothing, as before glibc 2.33. */
static char *listed_tunables(void)
{
    const char *program = loader();
    int ends[2];
    if (program == NULL || pipe2(ends, O_CLOEXEC) != 0) {
        return NULL;
    }
    const pid_t child = start_listing(program, ends[1]);
    close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    char *text = NULL;
    size_t capacity = 0;
    if (output == NULL) {
        close(ends[0]);
    } else {
        if (getdelim(&text, &capacity, '\0', output) <= 0) {
            free(text);
            text = NULL;
        }
        fclose(output);
    }
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
    return text;
}

static void write_sizes(struct json *json, const char *text)
{
    json_open(json, "sizes", '[');
    for (size_t i = 0; i < sizeof COPY_SIZES / sizeof COPY_SIZES[0]; i++) {
        if (strstr(text, COPY_SIZES[i]) != NULL) {
            json_string(json, NULL, COPY_SIZES[i]);
        }
    }
    json_close(json, ']');
}

/* Writes lines such as `glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x200, max: 0xffff)`. */
static void write_settings(struct json *json, char *text)
{
    char *rest = NULL;
    json_open(json, "settings", '{');
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, ':');
        if (value == NULL) {
            continue;
        }
        *value++ = '\0';
        value += strspn(value, " ");
        value[strcspn(value, " ")] = '\0';
        char decimal[32];
        if (strncmp(value, "0x", 2) == 0) {
            snprintf(decimal, sizeof decimal, "%llu", strtoull(value, NULL, 16));
            value = decimal;
        }
        json_string(json, line, value);
    }
    json_close(json, '}');
}

/* What the processor says of copies with `rep movsb`: nothing where it has no such instruction. */
static void write_cpu_flags(struct json *json)
{
    char flags[FLAGS_LENGTH];
    char *rest = NULL;
    json_open(json, "cpu_flags", '[');
    if (system_line("/proc/cpuinfo", "flags", flags, sizeof flags)) {
        for (char *flag = strtok_r(flags, " \t", &rest); flag != NULL;
             flag = strtok_r(NULL, " \t", &rest)) {
            if (strcmp(flag, "erms") == 0 || strcmp(flag, "fsrm") == 0) {
                json_string(json, NULL, flag);
            }
        }
    }
    json_close(json, ']');
}

void glibc_write(struct json *json, const char *key)
{
    get_version *version = (get_version *)as_function(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
#ifdef SWITCHPOINT_SIMULATED
    version = NULL; /* simulated hosts copy no messages */
#endif
    if (version == NULL) {
        json_string(json, key, NULL);
        return;
    }
    char none[] = "";
    char *listed = listed_tunables();
    char *text = listed != NULL ? listed : none;
    json_open(json, key, '{');
    json_string(json, "version", version());
    write_sizes(json, text);
    write_settings(json, text);
    write_cpu_flags(json);
    json_close(json, '}');
    free(listed);
}
