/* Brackets: pairs of sizes between which a switch is suspected, as --brackets gives them. */
#include "brackets.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static bool is_called(const struct mode *mode, const char *name, size_t length)
{
    return strlen(mode->name) == length && strncmp(mode->name, name, length) == 0;
}

/* Whether it is a mode of the kernel; of an algorithm, whether the mode is that it is made of. */
static bool is_in_kernel(const struct kernel *kernel, const char *name, size_t length)
{
    const char *colon = memchr(name, ':', length);
    const size_t own = colon != NULL ? (size_t)(colon - name) : length;
    for (const struct mode *mode = kernel->modes; mode->name != NULL; mode++) {
        if (is_called(mode, name, own)) {
            return true;
        }
    }
    return false;
}

void brackets_take(struct brackets *brackets, const struct mode *const *modes, size_t count)
{
    static const struct mode NOT_CHOSEN = {.name = ""};
    for (size_t i = 0; i < brackets->count; i++) {
        struct bracket *bracket = &brackets->items[i];
        if (bracket->name == NULL) {
            continue;
        }
        bracket->mode = &NOT_CHOSEN;
        for (size_t m = 0; m < count; m++) {
            if (is_called(modes[m], bracket->name, bracket->name_length)) {
                bracket->mode = modes[m];
            }
        }
    }
}

/* The last one: a mode of an algorithm has one in its name. */
static const char *find_colon(const char *text, size_t length)
{
    const char *found = NULL;
    for (const char *c = text; c < text + length; c++) {
        found = *c == ':' ? c : found;
    }
    return found;
}

/* [MODE:]LAST-FIRST */
static bool parse_bracket(const char *text, size_t length, const struct kernel *kernel,
                          struct bracket *bracket)
{
    const char *colon = find_colon(text, length);
    *bracket = (struct bracket){NULL};
    if (colon != NULL) {
        bracket->name = text;
        bracket->name_length = (size_t)(colon - text);
        if (!is_in_kernel(kernel, text, bracket->name_length)) {
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

bool brackets_parse(struct brackets *brackets, const char *list, const struct kernel *kernel,
                    struct refusal *refusal)
{
    for (const char *text = list;; text++) {
        const size_t length = strcspn(text, ",");
        struct bracket bracket;
        if (!parse_bracket(text, length, kernel, &bracket)) {
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
