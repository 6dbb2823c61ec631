/* Brackets: pairs of sizes between which a switch is suspected, as --brackets gives them. */
#include "brackets.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static const struct mode *find_mode(const struct mode *modes, const char *name, size_t length)
{
    for (const struct mode *mode = modes; mode->name != NULL; mode++) {
        if (strlen(mode->name) == length && strncmp(mode->name, name, length) == 0) {
            return mode;
        }
    }
    return NULL;
}

/* [MODE:]LAST-FIRST */
static bool parse_bracket(const char *text, size_t length, const struct mode *modes,
                          struct bracket *bracket)
{
    const char *colon = memchr(text, ':', length);
    *bracket = (struct bracket){NULL};
    if (colon != NULL) {
        bracket->mode = find_mode(modes, text, (size_t)(colon - text));
        if (bracket->mode == NULL) {
            return false;
        }
    }
    const char *digits = colon != NULL ? colon + 1 : text;
    char *end = NULL;
    bracket->last_bytes = strtol(digits, &end, 10);
    if (end == digits || *end != '-') {
        return false;
    }
    digits = end + 1;
    bracket->first_bytes = strtol(digits, &end, 10);
    return end != digits && end == text + length && bracket->last_bytes >= 0 &&
           bracket->last_bytes < bracket->first_bytes && bracket->first_bytes <= INT_MAX;
}

bool brackets_parse(struct brackets *brackets, const char *list, struct refusal *refusal)
{
    for (const char *text = list;; text++) {
        const size_t length = strcspn(text, ",");
        struct bracket bracket;
        if (!parse_bracket(text, length, brackets->modes, &bracket)) {
            return refuse(refusal,
                          "--brackets: '%.*s' is not [MODE:]LAST-FIRST, two sizes in bytes, the"
                          " smaller first, such as send:52016-65536",
                          (int)length, text);
        }
        brackets->items =
            reallocate(brackets->items, (brackets->count + 1) * sizeof *brackets->items);
        brackets->items[brackets->count++] = bracket;
        text += length;
        if (*text == '\0') {
            return true;
        }
    }
}
