/* Message sizes as the command line writes them: lists and ranges. */
#include "sizes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* More than any memory; a double holds it exactly. */
static const long long SIZE_BYTES_MAX = 1LL << 40;

enum { COUNT_MAX = 100000, PER_OCTAVE_MAX = 1000 };

static const char GRAMMAR[] =
    "write N, A:B (doubling), A:B/n (n per octave) or A:B:+S (steps of S), "
    "with K, M or G for 1024, 1024^2, 1024^3";

/* One item of the list: its first and last size, and the spacing between them. */
struct range {
    int64_t first;
    int64_t last;
    int64_t step;    /* 0: geometric */
    long per_octave; /* where geometric */
};

static bool parse_item(const char *item, struct range *range, struct refusal *refusal);
static bool parse_spacing(const char *item, const char **rest, struct range *range,
                          struct refusal *refusal);
static bool parse_size(const char **text, int64_t *bytes);
static bool append_range(struct sizes *sizes, const struct range *range, int64_t unit);
static bool append(struct sizes *sizes, int64_t size);
static void sort_unique(struct sizes *sizes);

bool sizes_parse(const char *specification, int64_t unit, struct sizes *sizes,
                 struct refusal *refusal)
{
    *sizes = (struct sizes){NULL, 0};
    const char *item = specification;
    for (;;) {
        const size_t length = strcspn(item, ",");
        char *copy = allocate(length + 1, 1);
        memcpy(copy, item, length);
        struct range range;
        const bool understood =
            parse_item(copy, &range, refusal) &&
            (append_range(sizes, &range, unit) ||
             refuse(refusal, "--sizes: '%s' makes more than %d sizes; use larger steps", copy,
                    COUNT_MAX));
        free(copy);
        if (!understood) {
            free(sizes->bytes);
            *sizes = (struct sizes){NULL, 0};
            return false;
        }
        if (item[length] == '\0') {
            break;
        }
        item += length + 1;
    }
    sort_unique(sizes);
    return true;
}

static bool parse_item(const char *item, struct range *range, struct refusal *refusal)
{
    *range = (struct range){.per_octave = 1};
    const char *rest = item;
    if (!parse_size(&rest, &range->first)) {
        return refuse(refusal, "--sizes: '%s' is not a size from 0 to %lld bytes; %s", item,
                      SIZE_BYTES_MAX, GRAMMAR);
    }
    range->last = range->first;
    if (*rest == ':') {
        rest++;
        if (!parse_size(&rest, &range->last)) {
            return refuse(refusal, "--sizes: '%s' does not end at a size from 0 to %lld bytes; %s",
                          item, SIZE_BYTES_MAX, GRAMMAR);
        }
        if (range->last < range->first) {
            return refuse(refusal,
                          "--sizes: '%s' ends below its start; write the smaller size first", item);
        }
        if (!parse_spacing(item, &rest, range, refusal)) {
            return false;
        }
    }
    return *rest == '\0' ||
           refuse(refusal, "--sizes: '%s': '%s' is not recognised; %s", item, rest, GRAMMAR);
}

/* Reads what may follow A:B, and checks that A allows it. */
static bool parse_spacing(const char *item, const char **rest, struct range *range,
                          struct refusal *refusal)
{
    if (strncmp(*rest, ":+", 2) == 0) {
        *rest += 2;
        return (parse_size(rest, &range->step) && range->step > 0) ||
               refuse(refusal, "--sizes: '%s' needs a step of 1 byte or more; %s", item, GRAMMAR);
    }
    if (range->first == 0) {
        return refuse(
            refusal,
            "--sizes: '%s' starts at 0, which doubling never leaves; start at 1, or give a "
            "step, as in 0:%lld:+8",
            item, (long long)range->last);
    }
    if (**rest == '/') {
        const char *digits = *rest + 1;
        char *end = NULL;
        range->per_octave = isdigit((unsigned char)*digits) ? strtol(digits, &end, 10) : 0;
        if (range->per_octave < 1 || range->per_octave > PER_OCTAVE_MAX) {
            return refuse(refusal, "--sizes: '%s' needs 1 to %d sizes per octave; %s", item,
                          PER_OCTAVE_MAX, GRAMMAR);
        }
        *rest = end;
    }
    return true;
}

/* False when there would be too many sizes. */
static bool append_range(struct sizes *sizes, const struct range *range, int64_t unit)
{
    if (range->first == range->last) {
        return append(sizes, range->first);
    }
    int64_t bytes = range->first;
    for (long k = 1; bytes <= range->last; k++) {
        if (!append(sizes, bytes)) {
            return false;
        }
        const double exact = (double)range->first * exp2((double)k / (double)range->per_octave);
        bytes =
            range->step > 0 ? range->first + k * range->step : llround(exact / (double)unit) * unit;
    }
    return true;
}

static bool parse_size(const char **text, int64_t *bytes)
{
    if (!isdigit((unsigned char)**text)) {
        return false;
    }
    char *end = NULL;
    /* strtoll saturates: absurd sizes stay above the bound. */
    const long long value = strtoll(*text, &end, 10);
    long long unit = 1;
    switch (*end) {
    case 'K':
        unit = 1LL << 10;
        break;
    case 'M':
        unit = 1LL << 20;
        break;
    case 'G':
        unit = 1LL << 30;
        break;
    default:
        break;
    }
    if (value > SIZE_BYTES_MAX / unit) {
        return false;
    }
    *bytes = value * unit;
    *text = end + (unit > 1 ? 1 : 0);
    return true;
}

static bool append(struct sizes *sizes, int64_t size)
{
    if (sizes->count > 0 && sizes->bytes[sizes->count - 1] == size) {
        return true;
    }
    if (sizes->count == COUNT_MAX) {
        return false;
    }
    if ((sizes->count & (sizes->count - 1)) == 0) {
        const size_t capacity = sizes->count > 0 ? 2 * sizes->count : 1;
        sizes->bytes = reallocate(sizes->bytes, capacity * sizeof *sizes->bytes);
    }
    sizes->bytes[sizes->count++] = size;
    return true;
}

static int ascending(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void sort_unique(struct sizes *sizes)
{
    qsort(sizes->bytes, sizes->count, sizeof *sizes->bytes, ascending);
    size_t kept = 1;
    for (size_t i = 1; i < sizes->count; i++) {
        if (sizes->bytes[i] != sizes->bytes[kept - 1]) {
            sizes->bytes[kept++] = sizes->bytes[i];
        }
    }
    sizes->count = kept;
}
