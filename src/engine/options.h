/* The command line: the options of every kernel, and those that one kernel adds. */
#ifndef SWITCHPOINT_OPTIONS_H
#define SWITCHPOINT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "brackets.h"
#include "kernel.h"
#include "refusal.h"
#include "sizes.h"

/* How the ranks start a call, or a block of repetitions, together. */
enum start_of_calls {
    START_BY_CORES, /* at an agreed time if each rank has a core; decided before the sweep */
    START_AGREED,
    START_BARRIER,
    START_ALONE /* rank 0 starts, in patterns that are timed there */
};

/* Which rank's time counts. */
enum time_of {
    TIME_OF_MODE, /* as the mode has it */
    TIME_OF_SLOWEST_RANK,
    TIME_OF_MEAN_RANK,
    TIME_OF_ROOT
};

struct options {
    const struct mode **modes; /* in the order asked for, each once */
    size_t mode_count;
    struct sizes sizes;
    const char *sizes_as_written;
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
    long buffer_offset_bytes;
    long kept;          /* samples written per point, at most */
    const char *record; /* NULL: none */
    const char
        *algorithms; /* of the library's collectives, separated by commas; NULL: its choice */
    struct brackets brackets; /* where to search for switches in place of a sweep */
    long search_time_ms;      /* of one bisection */
    const char *counters;     /* of the MPI library, by name, separated by commas; NULL: none */
    const char **labels;      /* "KEY=VALUE" */
    size_t label_count;
    enum start_of_calls start;
    enum time_of time_of;
    bool ucx_protocols; /* ask UCX which protocols it chose */
    bool quiet;
    bool help;
    bool version;
};

/* The options of every kernel whose value is a whole number, stored in `struct options`; ends with
 * an entry without a name. */
extern const struct kernel_option NUMBER_OPTIONS[];

/* What counts in a mode of a kernel: never TIME_OF_MODE. */
enum time_of time_of(const struct options *options, const struct kernel *kernel,
                     const struct mode *mode);

/* "agreed", "slowest"; NULL for START_ALONE. */
const char *start_name(enum start_of_calls start);
const char *time_of_name(enum time_of time_of);

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

/* Whether the arguments ask for UCX's protocols, which has to be known before MPI starts. */
bool asks_for_ucx_protocols(int argc, char **argv);
bool asks_for_algorithms(int argc, char **argv);

void options_free(struct options *options);

#endif
