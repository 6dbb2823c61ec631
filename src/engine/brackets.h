/* Brackets: pairs of sizes between which a switch is suspected, as --brackets gives them. */
#ifndef SWITCHPOINT_BRACKETS_H
#define SWITCHPOINT_BRACKETS_H

#include "kernel.h"

struct bracket {
    const struct mode *mode; /* NULL: every mode that the user asked for */
    const char *name;        /* of the mode, as given; NULL: none */
    size_t name_length;
    long last_bytes;
    long first_bytes;
};

struct brackets {
    struct bracket *items; /* free with free() */
    size_t count;
};

/* Adds the brackets of a list of [MODE:]LAST-FIRST, separated by commas. */
bool brackets_parse(struct brackets *brackets, const char *list, const struct kernel *kernel,
                    struct refusal *refusal);

/* Takes the modes of the brackets' names, those of algorithms among them, from a run's modes. */
void brackets_take(struct brackets *brackets, const struct mode *const *modes, size_t count);

#endif
