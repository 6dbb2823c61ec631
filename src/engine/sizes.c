/* Message sizes as the command line writes them: lists and ranges. */
#include "sizes.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { COUNT_MAX = 100000, PER_OCTAVE_MAX = 1000 };

static const char GRAMMAR[] =
    "write N, A:B (doubling), A:B/n (n an octave) or A:B:+S (steps of S), "
    "with K, M or G for 1024, 1024^2, 1024^3";

static bool parse_item(const char *item, struct sizes *sizes, struct refusal *refusal);
static bool parse_size(const char **text, int *bytes);
static bool append(struct sizes *sizes, double bytes);
static void sort_unique(struct sizes *sizes);

bool sizes_parse(const char *specification, struct sizes *sizes, struct refusal *refusal)
{
    *sizes = (struct sizes){NULL, 0};
    const char *item = specification;
    for (;;) {
        const size_t length = strcspn(item, ",");
        char *copy = allocate(length + 1, 1);
        memcpy(copy, item, length);
        const bool understood = parse_item(copy, sizes, refusal);
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

static bool parse_item(const char *item, struct sizes *sizes, struct refusal *refusal)
{
    const char *rest = item;
    int first = 0;
    int last = 0;
    int step = 0;
    long per_octave = 1;

    if (!parse_size(&rest, &first)) {
        return refuse(refusal, "--sizes: '%s' is not a size from 0 to %d bytes; %s", item, INT_MAX,
                      GRAMMAR);
    }
    last = first;
    if (*rest == ':') {
        rest++;
        if (!parse_size(&rest, &last)) {
            return refuse(refusal, "--sizes: '%s' does not end at a size from 0 to %d bytes; %s",
                          item, INT_MAX, GRAMMAR);
        }
        if (last < first) {
            return refuse(refusal, "--sizes: '%s' ends below its start; write the smaller first",
                          item);
        }
        if (rest[0] == ':' && rest[1] == '+') {
            rest += 2;
            if (!parse_size(&rest, &step) || step == 0) {
                return refuse(refusal, "--sizes: '%s' needs a step of 1 byte or more; %s", item,
                              GRAMMAR);
            }
        } else if (first == 0) {
            return refuse(refusal,
                          "--sizes: '%s' doubles from 0 and never grows; start at 1, or give a "
                          "step as in 0:%d:+8",
                          item, last);
        } else if (*rest == '/') {
            char *end = NULL;
            per_octave = isdigit((unsigned char)rest[1]) ? strtol(rest + 1, &end, 10) : 0;
            if (per_octave < 1 || per_octave > PER_OCTAVE_MAX) {
                return refuse(refusal, "--sizes: '%s' needs 1 to %d sizes an octave; %s", item,
                              PER_OCTAVE_MAX, GRAMMAR);
            }
            rest = end;
        }
    }
    if (*rest != '\0') {
        return refuse(refusal, "--sizes: '%s' is not understood from '%s' on; %s", item, rest,
                      GRAMMAR);
    }

    bool room = true;
    if (step > 0) {
        for (double bytes = first; room && bytes <= last; bytes += step) {
            room = append(sizes, bytes);
        }
    } else if (first == last) {
        room = append(sizes, first);
    } else {
        double bytes = first;
        for (long k = 1; room && bytes <= last; k++) {
            room = append(sizes, bytes);
            bytes = round(first * exp2((double)k / (double)per_octave));
        }
    }
    return room || refuse(refusal, "--sizes: '%s' makes more than %d sizes; take larger steps",
                          item, COUNT_MAX);
}

static bool parse_size(const char **text, int *bytes)
{
    if (!isdigit((unsigned char)**text)) {
        return false;
    }
    char *end = NULL;
    /* strtoll saturates, so that absurd sizes are still above the bound. */
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
    if (value > INT_MAX / unit) {
        return false;
    }
    *bytes = (int)(value * unit);
    *text = end + (unit > 1 ? 1 : 0);
    return true;
}

static bool append(struct sizes *sizes, double bytes)
{
    const int size = (int)bytes;
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
    const int a = *(const int *)left;
    const int b = *(const int *)right;
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
