/* The command line: the options of every kernel, and those that one kernel adds. */
#ifndef SWITCHPOINT_OPTIONS_H
#define SWITCHPOINT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel.h"
#include "refusal.h"
#include "sizes.h"

struct options {
    const struct mode **modes; /* in the order asked for, each once */
    size_t mode_count;
    struct sizes sizes;
    long passes;
    long samples; /* timed blocks per point and pass */
    long block_time_us;
    long pass_time_ms;
    long point_time_ms;     /* of a point in all passes; 0: no limit */
    long precision_percent; /* 0: every pass */
    long time_budget_s;     /* of the sweep; 0: no limit */
    long warmup;            /* untimed iterations before the blocks of a pass */
    long pause_us;          /* idle before each timed block */
    long seed;              /* negative: draw one */
    long window;            /* messages in flight, at most */
    long window_kib;        /* payload in flight at the largest size, at most */
    long rotate_mib;        /* 0: the same buffers again and again */
    long kept;              /* samples written per point, at most */
    const char *record;     /* NULL: none */
    const char **labels;    /* "KEY=VALUE" */
    size_t label_count;
    bool round_time; /* start blocks at an agreed time, not from a barrier */
    bool quiet;
    bool help;
    bool version;
};

/* The options of every kernel whose value is a whole number, stored in `struct options`; ends with
 * an entry without a name. */
extern const struct kernel_option NUMBER_OPTIONS[];

/* Where an option stores its number. */
long *number_field(void *settings, const struct kernel_option *option);

/* The default of --sizes. */
const char *sizes_default(const struct kernel *kernel);

/* The engine's defaults, then the kernel's own; free with options_free. */
void options_defaults(const struct kernel *kernel, struct options *options);

/* Reads the arguments over the defaults. Refuses what it does not recognise. Values point into
 * `argv`; free the rest with options_free. */
bool options_parse(int argc, char **argv, const struct kernel *kernel, struct options *options,
                   struct refusal *refusal);

void options_free(struct options *options);

#endif
