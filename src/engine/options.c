/* The command line: what every kernel understands, and what one kernel adds. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Every JSON reader holds integers up to 2^53 exactly. */
static const long SEED_MAX = (1L << 53) - 1;

static const char *sizes_default(const struct kernel *kernel)
{
    return kernel->sizes != NULL ? kernel->sizes : "1:4M/3";
}

/* An option that takes a whole number. */
struct number_option {
    const char *name;
    const char *value_name;
    const char *help;
    size_t field; /* of struct options */
    long initial;
    long least;
    long most;
};

static const struct number_option NUMBERS[] = {
    {"--passes", "N", "passes over the shuffled sweep", offsetof(struct options, passes), 3, 1,
     1000000},
    {"--samples", "N", "timed blocks per point and pass", offsetof(struct options, samples), 10, 1,
     1000000},
    {"--block-time", "US", "least duration of a timed block in us; 0: one repetition",
     offsetof(struct options, block_time_us), 500, 0, 60000000},
    {"--pass-time", "MS", "most time for one point's blocks in one pass in ms; one at least",
     offsetof(struct options, pass_time_ms), 20, 1, 3600000},
    {"--precision", "PCT",
     "leave a point out of further passes once its median is known to +-PCT %; 0: never",
     offsetof(struct options, precision_percent), 0, 0, 100},
    {"--time-budget", "S", "end the sweep after S seconds, early, with a whole record; 0: never",
     offsetof(struct options, time_budget_s), 0, 0, 10000000},
    {"--warmup", "N", "untimed repetitions before each point's blocks",
     offsetof(struct options, warmup), 1, 0, 1000000},
    {"--pause", "US", "idle time before each timed block in us, in which a shaped link recovers",
     offsetof(struct options, pause_us), 0, 0, 60000000},
    {"--window", "N", "messages in flight in streaming modes", offsetof(struct options, window), 64,
     1, 65536},
    {"--window-kib", "KIB", "most payload in flight in streaming modes; one message at least",
     offsetof(struct options, window_kib), 4096, 1, 1L << 30},
    {"--rotate", "MIB",
     "take turns through so much of send and of receive buffers; with more than\n"
     "                          the last-level cache, messages are cold; 0: the same buffers",
     offsetof(struct options, rotate_mib), 0, 0, 1L << 20},
    {"--kept", "N", "samples written per point at most; the rest is thinned out",
     offsetof(struct options, kept), 1000, 1, 100000000},
};
enum { NUMBER_COUNT = sizeof NUMBERS / sizeof NUMBERS[0] };

static void take_defaults(const struct kernel *kernel, struct options *options);
static bool parse_words(int count, const char *const *words, const struct kernel *kernel,
                        struct options *options, struct refusal *refusal);
static bool parse_option(const char *name, const char *value, const struct kernel *kernel,
                         struct options *options, struct refusal *refusal);
static bool is_flag(const char *name, struct options *options);
static bool parse_modes(const char *list, const struct kernel *kernel, struct options *options,
                        struct refusal *refusal);
static void add_mode(struct options *options, const struct mode *mode);
static bool parse_label(const char *label, struct options *options, struct refusal *refusal);

static long *number_field(struct options *options, const struct number_option *number)
{
    return (long *)(void *)((char *)options + number->field);
}

bool options_parse(int argc, char **argv, const struct kernel *kernel, struct options *options,
                   struct refusal *refusal)
{
    take_defaults(kernel, options);
    if (!parse_words(argc - 1, (const char *const *)argv + 1, kernel, options, refusal)) {
        return false;
    }
    if (options->round_time && kernel->timing == TIME_AT_ROOT) {
        return refuse(
            refusal,
            "--round-time: %s is timed where it starts and ends, by one rank; leave it out",
            kernel->name);
    }
    return true;
}

/* The engine's defaults, then the kernel's own. */
static void take_defaults(const struct kernel *kernel, struct options *options)
{
    *options = (struct options){.seed = -1};
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        *number_field(options, &NUMBERS[i]) = NUMBERS[i].initial;
    }
    struct refusal refusal = {""};
    sizes_parse(sizes_default(kernel), &options->sizes, &refusal);
    for (const struct mode *mode = kernel->modes; mode->name != NULL; mode++) {
        add_mode(options, mode);
    }
    int count = 0;
    while (kernel->defaults != NULL && kernel->defaults[count] != NULL) {
        count++;
    }
    parse_words(count, kernel->defaults, kernel, options, &refusal);
}

static bool parse_words(int count, const char *const *words, const struct kernel *kernel,
                        struct options *options, struct refusal *refusal)
{
    for (int i = 0; i < count; i++) {
        const char *name = words[i];
        if (is_flag(name, options)) {
            continue;
        }
        if (strncmp(name, "--", 2) != 0) {
            return refuse(refusal, "'%s' is not an option; --help lists them", name);
        }
        /* --name=value or --name value */
        const size_t length = strcspn(name, "=");
        const char *value = name[length] == '=' ? name + length + 1 : NULL;
        if (value == NULL && ++i < count) {
            value = words[i];
        }
        char *bare = allocate(length + 1, 1);
        memcpy(bare, name, length);
        const bool understood = parse_option(bare, value, kernel, options, refusal);
        free(bare);
        if (!understood) {
            return false;
        }
    }
    return true;
}

static bool is_flag(const char *name, struct options *options)
{
    bool *flag = NULL;
    if (strcmp(name, "--round-time") == 0) {
        flag = &options->round_time;
    } else if (strcmp(name, "--quiet") == 0) {
        flag = &options->quiet;
    } else if (strcmp(name, "--help") == 0) {
        flag = &options->help;
    } else if (strcmp(name, "--version") == 0) {
        flag = &options->version;
    } else {
        return false;
    }
    *flag = true;
    return true;
}

/* `value` is NULL when the command line ends at the name. */
static bool parse_option(const char *name, const char *value, const struct kernel *kernel,
                         struct options *options, struct refusal *refusal)
{
    const struct number_option *number = NULL;
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        number = strcmp(name, NUMBERS[i].name) == 0 ? &NUMBERS[i] : number;
    }
    const struct kernel_option *own = NULL;
    for (const struct kernel_option *o = kernel->options; o != NULL && o->name != NULL; o++) {
        own = strcmp(name, o->name) == 0 ? o : own;
    }
    const bool is_mode = strcmp(name, "--mode") == 0;
    const bool is_sizes = strcmp(name, "--sizes") == 0;
    const bool is_seed = strcmp(name, "--seed") == 0;
    const bool is_record = strcmp(name, "--record") == 0;
    const bool is_label = strcmp(name, "--label") == 0;

    if (number == NULL && own == NULL &&
        !(is_mode || is_sizes || is_seed || is_record || is_label)) {
        return refuse(refusal, "%s: unknown option; --help lists them", name);
    }
    if (value == NULL || value[0] == '\0') {
        return refuse(refusal, "%s: needs a value; --help shows which", name);
    }
    if (number != NULL) {
        return accept_number(name, value, number->least, number->most,
                             number_field(options, number), refusal);
    }
    if (own != NULL) {
        return own->accept(kernel->settings, value, refusal);
    }
    if (is_mode) {
        return parse_modes(value, kernel, options, refusal);
    }
    if (is_sizes) {
        free(options->sizes.bytes);
        return sizes_parse(value, &options->sizes, refusal);
    }
    if (is_seed) {
        return accept_number(name, value, 0, SEED_MAX, &options->seed, refusal);
    }
    if (is_label) {
        return parse_label(value, options, refusal);
    }
    options->record = value;
    return true;
}

bool accept_number(const char *name, const char *value, long least, long most, long *number,
                   struct refusal *refusal)
{
    char *end = NULL;
    errno = 0;
    const long parsed = strtol(value, &end, 10);
    const bool digits = isdigit((unsigned char)value[0]) && *end == '\0';
    if (!digits || errno == ERANGE || parsed < least || parsed > most) {
        return refuse(refusal, "%s: '%s' is not a whole number from %ld to %ld", name, value, least,
                      most);
    }
    *number = parsed;
    return true;
}

/* "send, ssend": what --mode accepts. */
static void list_modes(const struct kernel *kernel, char *text, size_t capacity)
{
    size_t length = 0;
    text[0] = '\0';
    for (const struct mode *mode = kernel->modes; mode->name != NULL && length < capacity; mode++) {
        length += (size_t)snprintf(text + length, capacity - length, "%s%s",
                                   mode == kernel->modes ? "" : ", ", mode->name);
    }
}

/* Unless it is listed already. */
static void add_mode(struct options *options, const struct mode *mode)
{
    for (size_t m = 0; m < options->mode_count; m++) {
        if (options->modes[m] == mode) {
            return;
        }
    }
    const size_t count = options->mode_count + 1;
    options->modes = reallocate(options->modes, count * sizeof(const struct mode *));
    options->modes[options->mode_count++] = mode;
}

static bool parse_modes(const char *list, const struct kernel *kernel, struct options *options,
                        struct refusal *refusal)
{
    options->mode_count = 0;
    for (const char *name = list;;) {
        const size_t length = strcspn(name, ",");
        const struct mode *found = NULL;
        for (const struct mode *mode = kernel->modes; mode->name != NULL; mode++) {
            if (strlen(mode->name) == length && strncmp(mode->name, name, length) == 0) {
                found = mode;
            }
        }
        if (found == NULL) {
            char known[256];
            list_modes(kernel, known, sizeof known);
            return refuse(refusal, "--mode: no mode '%.*s'; choose from %s", (int)length, name,
                          known);
        }
        add_mode(options, found);
        if (name[length] == '\0') {
            return true;
        }
        name += length + 1;
    }
}

static bool parse_label(const char *label, struct options *options, struct refusal *refusal)
{
    const size_t length = strcspn(label, "=");
    if (length == 0 || label[length] == '\0') {
        return refuse(refusal, "--label: '%s' is not KEY=VALUE", label);
    }
    for (size_t i = 0; i < options->label_count; i++) {
        if (strncmp(options->labels[i], label, length + 1) == 0) {
            return refuse(refusal, "--label: '%.*s' is given twice; give it once", (int)length,
                          label);
        }
    }
    options->labels =
        reallocate(options->labels, (options->label_count + 1) * sizeof *options->labels);
    options->labels[options->label_count++] = label;
    return true;
}

static void help_line(FILE *out, const char *name, const char *value_name, const char *help)
{
    fprintf(out, "  %-13s %-9s %s", name, value_name, help);
}

static const char *modes_default(const struct kernel *kernel)
{
    static const char PREFIX[] = "--mode=";
    for (const char *const *word = kernel->defaults; word != NULL && *word != NULL; word++) {
        if (strncmp(*word, PREFIX, strlen(PREFIX)) == 0) {
            return *word + strlen(PREFIX);
        }
    }
    return "all";
}

void options_help(FILE *out, const struct kernel *kernel)
{
    struct options defaults;
    take_defaults(kernel, &defaults);
    fprintf(out, "%s: %s\n\n", kernel->name, kernel->summary);
    if (kernel->ranks_max == kernel->ranks_min) {
        fprintf(out, "usage: mpirun -n %d %s [options]\n\n", kernel->ranks_min, kernel->name);
    } else {
        fprintf(out, "usage: mpirun -n RANKS %s [options]\n\nRANKS: %d or more", kernel->name,
                kernel->ranks_min);
        if (kernel->ranks_even) {
            fprintf(out, ", even");
        }
        if (kernel->ranks_max > 0) {
            fprintf(out, ", %d at most", kernel->ranks_max);
        }
        fprintf(out, "\n\n");
    }

    fprintf(out, "modes (time_us is what the table and the record show):\n");
    for (const struct mode *mode = kernel->modes; mode->name != NULL; mode++) {
        fprintf(out, "  %-17s %s\n  %-17s source: %s\n", mode->name, mode->summary, "",
                mode->source);
    }

    fprintf(out, "\nwhat is measured:\n");
    help_line(out, "--mode", "M[,M..]", "modes");
    fprintf(out, " (%s)\n", modes_default(kernel));
    help_line(out, "--sizes", "SPEC", "message sizes in bytes: a list of\n");
    help_line(out, "", "", "  N       one size\n");
    help_line(out, "", "", "  A:B     A, 2A, 4A, ... up to B\n");
    help_line(out, "", "", "  A:B/n   n sizes an octave\n");
    help_line(out, "", "", "  A:B:+S  A, A+S, A+2S, ... up to B\n");
    help_line(out, "", "", "with K, M, G for 1024, 1024^2, 1024^3");
    fprintf(out, " (%s)\n", sizes_default(kernel));
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        help_line(out, NUMBERS[i].name, NUMBERS[i].value_name, NUMBERS[i].help);
        fprintf(out, " (%ld)\n", *number_field(&defaults, &NUMBERS[i]));
    }
    help_line(out, "--seed", "N", "seed of the sweep's random order (random, recorded)\n");
    if (kernel->timing != TIME_AT_ROOT) {
        help_line(out, "--round-time", "",
                  "start each block at an agreed time, not from a barrier; redo late starts\n");
    }
    for (const struct kernel_option *o = kernel->options; o != NULL && o->name != NULL; o++) {
        help_line(out, o->name, o->value_name, o->help);
        fprintf(out, "\n");
    }

    fprintf(out, "\nwhat becomes of it:\n");
    help_line(out, "--record", "PATH", "write the run record here (none)\n");
    help_line(out, "--label", "KEY=VALUE",
              "say something about the run in its record; repeatable\n");
    help_line(out, "--quiet", "", "print the last line only\n");
    help_line(out, "--help", "", "this text\n");
    help_line(out, "--version", "", "version, commit, compiler and MPI\n");
    fprintf(out,
            "\nTime is in us, bandwidth in MB/s (10^6 bytes). Exit code: 0 measured and "
            "verified, 1 payload\nerrors, 2 bad usage or an unwritable record, 3 an MPI error.\n");
    options_free(&defaults);
}

void options_free(struct options *options)
{
    free(options->modes);
    free(options->sizes.bytes);
    free(options->labels);
}
