/* The command line: what every kernel understands, and what one kernel adds. */
#ifndef SWITCHPOINT_OPTIONS_H
#define SWITCHPOINT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine.h"
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
    long precision_percent; /* 0: every pass */
    long time_budget_s;     /* of the sweep; 0: no end */
    long warmup;            /* untimed iterations before the blocks of a pass */
    long pause_us;          /* idle before each timed block */
    long seed;              /* negative: draw one */
    long window;            /* messages in flight, at most */
    long window_kib;        /* payload in flight, at most; one message at least */
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

/* Reads the arguments over the defaults. Refuses what it does not understand. Values point into
 * `argv`; free the rest with options_free. */
bool options_parse(int argc, char **argv, const struct kernel *kernel, struct options *options,
                   struct refusal *refusal);

/* Every option with unit and default, every mode with its source. */
void options_help(FILE *out, const struct kernel *kernel);

void options_free(struct options *options);

#endif
