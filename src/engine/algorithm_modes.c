/* Makes modes of algorithms. */
#include "algorithm_modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { NAME_LENGTH = 96 };

static const char ALL[] = "all";

static bool is_word(const char *word, const char *name, size_t length)
{
    return strlen(word) == length && strncmp(name, word, length) == 0;
}

/* Whether a list "a,b" has a word. */
static bool lists(const char *list, const char *word)
{
    for (const char *name = list;; name += strcspn(name, ",") + 1) {
        const size_t length = strcspn(name, ",");
        if (is_word(word, name, length)) {
            return true;
        }
        if (name[length] == '\0') {
            return false;
        }
    }
}

/* The operation of the modes that call the library: a kernel has one. */
static const char *operation_of(const struct options *options)
{
    for (size_t m = 0; m < options->mode_count; m++) {
        if (options->modes[m]->operation != NULL) {
            return options->modes[m]->operation;
        }
    }
    return NULL;
}

/* Refuses the first name of the list that is not one of the algorithms. */
static bool all_known(const char *list, const struct algorithm_modes *added,
                      struct refusal *refusal)
{
    char known[384] = "";
    size_t length = 0;
    for (size_t a = 0; a < added->algorithm_count && length < sizeof known; a++) {
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s",
                                   a == 0 ? "" : ", ", added->algorithms[a].name);
    }
    for (const char *name = list;; name += strcspn(name, ",") + 1) {
        const size_t bytes = strcspn(name, ",");
        bool found = is_word(ALL, name, bytes);
        for (size_t a = 0; a < added->algorithm_count; a++) {
            found = found || is_word(added->algorithms[a].name, name, bytes);
        }
        if (!found) {
            return refuse(refusal, "--algorithms: no '%.*s'; this library has: %s", (int)bytes,
                          name, known);
        }
        if (name[bytes] == '\0') {
            return true;
        }
    }
}

static void make_mode(struct mode *made, const struct mode *of, const struct algorithm *algorithm)
{
    char *name = allocate(NAME_LENGTH, 1);
    snprintf(name, NAME_LENGTH, "%s:%s", of->name, algorithm->name);
    *made = *of;
    made->name = name;
    made->algorithm = algorithm;
}

void algorithm_modes_add(MPI_Comm comm, const struct kernel *kernel, struct options *options,
                         struct algorithm_modes *added, struct refusal *refusal)
{
    if (options->algorithms == NULL) {
        return;
    }
    const char *operation = operation_of(options);
    if (operation == NULL) {
        refuse(refusal,
               "--algorithms: no mode of %s that is chosen calls a collective of the "
               "library",
               kernel->name);
        return;
    }
    added->algorithms = algorithms_of(comm, operation, &added->algorithm_count, refusal);
    if (added->algorithm_count == 0 || !all_known(options->algorithms, added, refusal)) {
        return;
    }
    const size_t most = options->mode_count * (added->algorithm_count + 1);
    const struct mode **modes = allocate(most, sizeof(const struct mode *));
    added->modes = allocate(most, sizeof *added->modes);
    size_t count = 0;
    for (size_t m = 0; m < options->mode_count; m++) {
        const struct mode *mode = options->modes[m];
        modes[count++] = mode;
        for (size_t a = 0; a < added->algorithm_count && mode->operation != NULL; a++) {
            const struct algorithm *algorithm = &added->algorithms[a];
            if (lists(options->algorithms, ALL) || lists(options->algorithms, algorithm->name)) {
                make_mode(&added->modes[added->mode_count], mode, algorithm);
                modes[count++] = &added->modes[added->mode_count++];
            }
        }
    }
    free(options->modes);
    options->modes = modes;
    options->mode_count = count;
}

void algorithm_modes_free(struct algorithm_modes *added)
{
    for (size_t m = 0; m < added->mode_count; m++) {
        free((void *)added->modes[m].name);
    }
    free(added->modes);
    algorithms_free(added->algorithms, added->algorithm_count);
}
