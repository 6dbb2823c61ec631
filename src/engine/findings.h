/* What a zoom has found: one search after another. */
#ifndef SWITCHPOINT_FINDINGS_H
#define SWITCHPOINT_FINDINGS_H

#include <stdio.h>

#include "json.h"
#include "search.h"

struct findings {
    struct search *searches; /* free with free() */
    size_t count;
    const struct mode *probe; /* the mode that is the late-receiver probe; NULL: none */
};

/* Adds a search; valid until the next one is added. */
struct search *findings_add(struct findings *findings, const struct mode *mode, int low_bytes,
                            int high_bytes);

/* As "switches". */
void findings_write(struct json *json, const struct findings *findings);
void findings_print(FILE *out, const struct findings *findings);

#endif
