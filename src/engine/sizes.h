/* Message sizes as the command line writes them: lists and ranges. */
#ifndef SWITCHPOINT_SIZES_H
#define SWITCHPOINT_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "refusal.h"

/* Sizes in bytes, ascending, each once; free `bytes` with free(). */
struct sizes {
    int64_t *bytes;
    size_t count;
};

/* Reads a comma-separated list of
 *   N        one size
 *   A:B      A, 2A, 4A, ... up to B
 *   A:B/n    n sizes per octave from A to B, rounded to multiples of the unit
 *   A:B:+S   A, A+S, A+2S, ... up to B
 * with suffixes K, M, G for 1024, 1024^2, 1024^3. Refuses a list that is malformed or empty, and
 * sizes of more than 1024 G. */
bool sizes_parse(const char *specification, int64_t unit, struct sizes *sizes,
                 struct refusal *refusal);

#endif
