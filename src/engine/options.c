/* The command line: the options of every kernel, and those that one kernel adds. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static const char ALGORITHMS[] = "--algorithms";
static const char UCX_PROTOCOLS[] = "--ucx-protocols";

static bool asks_for(const char *option, int argc, char **argv)
{
    const size_t length = strlen(option);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], option, length) == 0 &&
            (argv[i][length] == '\0' || argv[i][length] == '=')) {
            return true;
        }
    }
    return false;
}

bool asks_for_ucx_protocols(int argc, char **argv)
{
    return asks_for(UCX_PROTOCOLS, argc, argv);
}

bool asks_for_algorithms(int argc, char **argv)
{
    return asks_for(ALGORITHMS, argc, argv);
}

const struct kernel_option NUMBER_OPTIONS[] = {
    {"--passes", "N", "passes over the shuffled sweep", .field = offsetof(struct options, passes),
     .least = 1, .most = 1000000},
    {"--samples", "N", "timed blocks per point and pass",
     .field = offsetof(struct options, samples), .least = 1, .most = 1000000},
    {"--block-time", "US", "shortest timed block in us; 0: one repetition",
     .field = offsetof(struct options, block_time_us), .least = 0, .most = 60000000},
    {"--pass-time", "MS", "longest time for one point's blocks in one pass in ms; at least 1 block",
     .field = offsetof(struct options, pass_time_ms), .least = 1, .most = 3600000},
    {"--point-time", "MS",
     "skip a point in further passes once its blocks took this long together, in ms;\n"
     "0: never",
     .field = offsetof(struct options, point_time_ms), .least = 0, .most = 10000000},
    {"--precision", "PCT",
     "skip a point in further passes once its median is known to +-PCT %; 0: never",
     .field = offsetof(struct options, precision_percent), .least = 0, .most = 100},
    {"--time-budget", "S", "end the run early after S seconds, with a complete record; 0: never",
     .field = offsetof(struct options, time_budget_s), .least = 0, .most = 10000000},
    {"--warmup", "N", "untimed repetitions before each point's blocks",
     .field = offsetof(struct options, warmup), .least = 0, .most = 1000000},
    {"--pause", "US", "idle time before each timed block in us, so that a shaped link recovers",
     .field = offsetof(struct options, pause_us), .least = 0, .most = 60000000},
    {"--window", "N", "messages in flight in streaming modes, at every size",
     .field = offsetof(struct options, window), .least = 1, .most = 65536},
    {"--window-kib", "KIB",
     "most payload in flight in streaming modes: if --window messages of the largest\n"
     "size are more, all sizes get a smaller window, of at least one",
     .field = offsetof(struct options, window_kib), .least = 1, .most = 1L << 30},
    {"--rotate", "MIB",
     "rotate through this much send buffer and this much receive buffer; with more than\n"
     "the last-level cache, messages are cold; 0: the same buffers",
     .field = offsetof(struct options, rotate_mib), .least = 0, .most = 1L << 20},
    {"--buffer-offset", "BYTES",
     "start the send buffer and the receive buffer this many bytes after the start of\n"
     "a page",
     .field = offsetof(struct options, buffer_offset_bytes), .least = 0, .most = 4095},
    {"--search-time", "MS", "longest time of one bisection of --brackets in ms",
     .field = offsetof(struct options, search_time_ms), .least = 1, .most = 3600000},
    {"--kept", "N", "most samples written per point; the others are thinned out",
     .field = offsetof(struct options, kept), .least = 1, .most = 100000000},
    {0},
};

static const struct options DEFAULTS = {
    .passes = 3,
    .samples = 10,
    .block_time_us = 500,
    .pass_time_ms = 20,
    .warmup = 3, /* after fewer, messages of the size of a cache are still on their way into it */
    .window = 64,
    .window_kib = 262144, /* 64 messages of 4 MiB */
    .search_time_ms = 800,
    .kept = 1000,
    .seed = -1,
};

static bool parse_words(int count, const char *const *words, const struct kernel *kernel,
                        struct options *options, struct refusal *refusal);
static bool parse_sizes(const struct kernel *kernel, const char *specification,
                        struct options *options, struct refusal *refusal);
static bool suits_timing(const struct kernel *kernel, struct options *options,
                         struct refusal *refusal);
static bool suits_interval(const struct options *options, struct refusal *refusal);
static bool parse_start(const char *value, struct options *options, struct refusal *refusal);
static bool parse_time_of(const char *value, struct options *options, struct refusal *refusal);
static bool parse_flag(const char *name, struct options *options);
static bool parse_option(const char *name, const char *value, const struct kernel *kernel,
                         struct options *options, struct refusal *refusal);
static bool parse_value(const char *name, const char *value, const struct kernel *kernel,
                        struct options *options, struct refusal *refusal);
static const struct kernel_option *find_option(const struct kernel_option *options,
                                               const char *name);
static bool store(const struct kernel_option *option, const char *value, void *settings,
                  struct refusal *refusal);
static bool parse_number(const struct kernel_option *option, const char *value, long *number,
                         struct refusal *refusal);
static bool parse_modes(const char *list, const struct kernel *kernel, struct options *options,
                        struct refusal *refusal);
static void add_mode(struct options *options, const struct mode *mode);
static bool parse_label(const char *label, struct options *options, struct refusal *refusal);

bool options_parse(int argc, char **argv, const struct kernel *kernel, struct options *options,
                   struct refusal *refusal)
{
    options_defaults(kernel, options);
    if (!parse_words(argc - 1, (const char *const *)argv + 1, kernel, options, refusal)) {
        return false;
    }
    /* Once more: an option that chooses the unit may have come after the sizes. */
    return parse_sizes(kernel, options->sizes_as_written, options, refusal) &&
           suits_timing(kernel, options, refusal) && suits_interval(options, refusal);
}

static bool suits_timing(const struct kernel *kernel, struct options *options,
                         struct refusal *refusal)
{
    if (kernel->timing != TIME_AT_ROOT) {
        return true;
    }
    if (options->start != START_BY_CORES || options->time_of != TIME_OF_MODE) {
        return refuse(refusal,
                      "%s: %s is timed by rank 0 alone, where it starts and ends; leave it out",
                      options->start != START_BY_CORES ? "--start" : "--time-of", kernel->name);
    }
    options->start = START_ALONE;
    return true;
}

/* Passes below six have no interval, which a point could wait for. */
static bool suits_interval(const struct options *options, struct refusal *refusal)
{
    enum { PASSES_MIN = 6 };
    return options->precision_percent == 0 || options->passes >= PASSES_MIN ||
           refuse(refusal,
                  "--precision: needs %d passes or more for an interval, not %ld; use "
                  "--passes %d or more",
                  PASSES_MIN, options->passes, PASSES_MIN);
}

enum time_of time_of(const struct options *options, const struct kernel *kernel,
                     const struct mode *mode)
{
    if (kernel->timing == TIME_AT_ROOT || mode->at_root) {
        return TIME_OF_ROOT;
    }
    if (options->time_of != TIME_OF_MODE) {
        return options->time_of;
    }
    return mode->ends_at_root ? TIME_OF_ROOT : TIME_OF_SLOWEST_RANK;
}

static const char *const START_NAMES[] = {[START_AGREED] = "agreed", [START_BARRIER] = "barrier"};
static const char *const TIME_OF_NAMES[] = {
    [TIME_OF_SLOWEST_RANK] = "slowest", [TIME_OF_MEAN_RANK] = "mean", [TIME_OF_ROOT] = "root"};

const char *start_name(enum start_of_calls start)
{
    return start == START_ALONE ? NULL : START_NAMES[start];
}

const char *time_of_name(enum time_of time_of)
{
    return TIME_OF_NAMES[time_of];
}

/* Where a word is in a list, in which unused places are NULL; -1 if it is not there. */
static int place_of(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++) {
        if (words[i] != NULL && strcmp(words[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

static bool parse_start(const char *value, struct options *options, struct refusal *refusal)
{
    const int found = place_of(value, START_NAMES, START_BARRIER + 1);
    if (found < 0) {
        return refuse(refusal, "--start: '%s' is neither agreed nor barrier", value);
    }
    options->start = (enum start_of_calls)found;
    return true;
}

static bool parse_time_of(const char *value, struct options *options, struct refusal *refusal)
{
    const int found = place_of(value, TIME_OF_NAMES, TIME_OF_ROOT + 1);
    if (found < 0) {
        return refuse(refusal, "--time-of: '%s' is not slowest, mean or root", value);
    }
    options->time_of = (enum time_of)found;
    return true;
}

const char *sizes_default(const struct kernel *kernel)
{
    return kernel->sizes != NULL ? kernel->sizes : "1:4M/3";
}

static bool parse_sizes(const struct kernel *kernel, const char *specification,
                        struct options *options, struct refusal *refusal)
{
    const int64_t unit = kernel->size_unit != NULL ? kernel->size_unit(kernel->settings) : 1;
    free(options->sizes.bytes);
    options->sizes_as_written = specification;
    return sizes_parse(specification, unit, &options->sizes, refusal);
}

void options_defaults(const struct kernel *kernel, struct options *options)
{
    *options = DEFAULTS;
    struct refusal refusal = {""};
    parse_sizes(kernel, sizes_default(kernel), options, &refusal);
    for (const struct mode *mode = kernel->modes; mode->name != NULL; mode++) {
        if (!mode->replacement) {
            add_mode(options, mode);
        }
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
        if (parse_flag(name, options)) {
            continue;
        }
        if (strncmp(name, "--", 2) != 0) {
            return refuse(refusal, "'%s' is not an option; --help lists the options", name);
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

static bool parse_flag(const char *name, struct options *options)
{
    bool *flag = NULL;
    if (strcmp(name, UCX_PROTOCOLS) == 0) {
        flag = &options->ucx_protocols;
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
    static const char *const OTHERS[] = {"--mode",         "--sizes",   "--seed",   "--brackets",
                                         "--start",        "--time-of", "--record", "--label",
                                         "--mpi-counters", ALGORITHMS};
    const struct kernel_option *number = find_option(NUMBER_OPTIONS, name);
    const struct kernel_option *own = find_option(kernel->options, name);
    bool known = number != NULL || own != NULL;
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        known = known || strcmp(name, OTHERS[i]) == 0;
    }
    if (!known) {
        return refuse(refusal, "%s: unknown option; --help lists the options", name);
    }
    if (value == NULL || value[0] == '\0') {
        return refuse(refusal, "%s: needs a value; --help shows which", name);
    }
    if (number != NULL) {
        return store(number, value, options, refusal);
    }
    if (own != NULL) {
        return store(own, value, kernel->settings, refusal);
    }
    return parse_value(name, value, kernel, options, refusal);
}

static bool parse_value(const char *name, const char *value, const struct kernel *kernel,
                        struct options *options, struct refusal *refusal)
{
    /* Every JSON reader holds integers up to 2^53 exactly. */
    static const struct kernel_option SEED_OPTION = {.name = "--seed", .most = (1L << 53) - 1};
    if (strcmp(name, "--mode") == 0) {
        return parse_modes(value, kernel, options, refusal);
    }
    if (strcmp(name, "--sizes") == 0) {
        return parse_sizes(kernel, value, options, refusal);
    }
    if (strcmp(name, SEED_OPTION.name) == 0) {
        return parse_number(&SEED_OPTION, value, &options->seed, refusal);
    }
    if (strcmp(name, "--start") == 0) {
        return parse_start(value, options, refusal);
    }
    if (strcmp(name, "--time-of") == 0) {
        return parse_time_of(value, options, refusal);
    }
    if (strcmp(name, ALGORITHMS) == 0) {
        options->algorithms = strcmp(value, "default") == 0 ? NULL : value;
        return true;
    }
    if (strcmp(name, "--brackets") == 0) {
        return brackets_parse(&options->brackets, value, kernel, refusal);
    }
    if (strcmp(name, "--mpi-counters") == 0) {
        options->counters = value;
        return true;
    }
    if (strcmp(name, "--label") == 0) {
        return parse_label(value, options, refusal);
    }
    options->record = value;
    return true;
}

/* NULL when there is none of this name; `options` may be NULL. */
static const struct kernel_option *find_option(const struct kernel_option *options,
                                               const char *name)
{
    for (const struct kernel_option *o = options; o != NULL && o->name != NULL; o++) {
        if (strcmp(name, o->name) == 0) {
            return o;
        }
    }
    return NULL;
}

long *number_field(void *settings, const struct kernel_option *option)
{
    return (long *)(void *)((char *)settings + option->field);
}

static bool store(const struct kernel_option *option, const char *value, void *settings,
                  struct refusal *refusal)
{
    return option->accept != NULL
               ? option->accept(settings, value, refusal)
               : parse_number(option, value, number_field(settings, option), refusal);
}

static bool parse_number(const struct kernel_option *option, const char *value, long *number,
                         struct refusal *refusal)
{
    char *end = NULL;
    errno = 0;
    const long parsed = strtol(value, &end, 10);
    const bool digits = isdigit((unsigned char)value[0]) && *end == '\0';
    if (!digits || errno == ERANGE || parsed < option->least || parsed > option->most) {
        return refuse(refusal, "%s: '%s' is not a whole number from %ld to %ld", option->name,
                      value, option->least, option->most);
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

/* Adds a mode, unless it is listed already. */
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

void options_free(struct options *options)
{
    free(options->modes);
    free(options->sizes.bytes);
    free(options->labels);
    free(options->brackets.items);
}
