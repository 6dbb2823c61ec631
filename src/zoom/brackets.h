/* Brackets: pairs of sizes between which a switch is suspected, as --brackets gives them. */
#ifndef SWITCHPOINT_BRACKETS_H
#define SWITCHPOINT_BRACKETS_H

#include "kernel.h"

struct bracket {
    const struct mode *mode; /* NULL: every mode that the user asked for */
    long last_bytes;
    long first_bytes;
};

struct brackets {
    struct bracket *items; /* free with free() */
    size_t count;
    const struct mode *modes; /* those that a bracket may name; ends with one without a name */
};

/* Adds the brackets of a list of [MODE:]LAST-FIRST, separated by commas. */
bool brackets_parse(struct brackets *brackets, const char *list, struct refusal *refusal);

#endif
