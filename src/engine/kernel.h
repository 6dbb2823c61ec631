/* The interface between a kernel and the engine.
 * A kernel fills one `struct kernel` and calls engine_main; the engine does everything else.
 * docs/how-to/new-kernel.md shows a complete kernel. */
#ifndef SWITCHPOINT_KERNEL_H
#define SWITCHPOINT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bandwidth.h"
#include "mpi_check.h"
#include "refusal.h"
#include "task.h"

struct algorithm;
struct explorer;

/* Bytes that one repetition leaves in this rank's receive buffer, and where they come from. */
struct arrival {
    size_t offset; /* in the receive buffer */
    size_t bytes;
    int sender;
    size_t sent_offset; /* in the sender's send buffer */
};

/* How many parts of a result this rank compared, and how many of them were wrong. */
struct verdict {
    int64_t compared;
    int64_t wrong;
};

/* What a mode computes, for modes that do more than deliver payload. `size_bytes` is then the size
 * of the problem's data. Each repetition computes the result from the input in the send buffer,
 * which it does not change. The result, and everything else that travels, is in the receive buffer.
 * Before the warm-up every byte of the receive buffer is 0xFF (an integer -1, a NaN), and before
 * the timed blocks the first 8 bytes and some at equal distances are so again: a result that no
 * timed repetition computed is therefore wrong. So the result starts the buffer, or takes an eighth
 * of it or more. */
struct result {
    /* Bytes of receive buffer that this rank needs: result and work space. */
    size_t (*bytes)(const struct task *task);

    /* Writes this rank's part of the input; called before the mode's `prepare`. The key changes
     * with size and pass and is the same on every rank. */
    void (*fill)(const struct task *task, uint64_t key);

    /* Collective. Compares this rank's part of the result with what the input of `key` must give;
     * called after the mode's `release`. */
    struct verdict (*check)(const struct task *task, uint64_t key);
};

/* One way to run the kernel's pattern. */
struct mode {
    const char *name;
    const char *summary; /* one line that says what time_us means */
    const char *source;  /* paper, equation or program that it follows */

    /* Runs the pattern `iterations` times. The timed section holds this call and nothing else. */
    void (*run)(const struct task *task, long iterations);

    /* What distinguishes this mode from others with the same functions; the task shows it. */
    const void *variant;

    /* Messages by which one iteration's time is divided; NULL: 1. */
    long (*messages)(const struct task *task);

    /* The index-th arrival at this rank, for verification and for the size of the receive buffer;
     * false when there is none. Arrivals do not overlap. NULL when the mode has a result. */
    bool (*arrival)(const struct task *task, int index, struct arrival *arrival);

    /* NULL when the arrivals are everything that can be verified. */
    const struct result *result;

    /* The operation of the MPI library that the mode calls, such as "allreduce": nobody knows what
     * it sends. NULL: the mode sends by itself, and counts what it sends if it has a result; or it
     * is a replacement. */
    const char *operation;

    /* The algorithm that it has to use; NULL: the library chooses. The engine makes these modes
     * of others, see algorithm_modes.h. */
    const struct algorithm *algorithm;

    /* Bytes of send buffer that this rank needs; NULL: one message. */
    size_t (*send_bytes)(const struct task *task);

    /* MPI requests that this rank needs; NULL: one for each message in flight. */
    size_t (*requests)(const struct task *task);

    /* Whether the mode works with these ranks, this size and the kernel's options: the same answer
     * on every rank. If not, it refuses and says what would work. Called before the buffers are
     * computed and before anything runs; NULL: the mode always works. */
    bool (*suits)(const struct task *task, struct refusal *refusal);

    /* Called before and after the runs at one point of one pass, untimed; NULL: nothing to do. */
    void (*prepare)(const struct task *task);
    void (*release)(const struct task *task);

    bool once;         /* a block is one repetition, without warm-up and calibration */
    bool at_root;      /* rank 0 works alone: its clock counts, and the other ranks sleep */
    bool ends_at_root; /* all ranks work, and rank 0 is the last to end: its clock counts */
    bool streams;      /* keeps a window of messages in flight */
    bool large;        /* takes messages that are larger than an int, by large_messages.h */
    bool rotates;      /* each repetition takes its buffers from `sent` and `received` */
    bool replacement;  /* does by other operations of the library what the kernel's own does, and
                          should not be faster; or the same with other counts. Measured only if it
                          is named */
};

/* Whether it is known what a mode with a result sends. */
static inline bool counts_traffic(const struct mode *mode)
{
    return mode->result != NULL && mode->operation == NULL && !mode->replacement;
}

/* Messages by which one repetition's time is divided. */
static inline double messages_of(const struct mode *mode, const struct task *task)
{
    return mode->messages != NULL ? (double)mode->messages(task) : 1;
}

/* An option that one kernel adds. Its value is a whole number, unless `accept` is set. */
struct kernel_option {
    const char *name;       /* with its dashes: "--grain" */
    const char *value_name; /* "US" */
    const char *help;       /* with unit and default */

    /* For a number: the `long` that stores it, as its offset in the settings, and its bounds. */
    size_t field;
    long least;
    long most;

    /* Stores any other value in the settings, or refuses it and says what would work. */
    bool (*accept)(void *settings, const char *value, struct refusal *refusal);
};

/* Which rank's time counts, where the user does not ask for another. */
enum timing {
    TIME_AT_ROOT,         /* rank 0's, for patterns that end where they start */
    TIME_OF_SLOWEST,      /* the slowest rank's; all ranks start a block together */
    TIME_OF_SLOWEST_ALONE /* the same where all ranks start each repetition together, for patterns
                             whose next repetition could start before the slowest rank ends this */
};

struct kernel {
    const char *name;
    const char *summary; /* one line */
    int ranks_min;
    int ranks_max;                              /* 0: no bound */
    bool ranks_even;                            /* the number of ranks must be even */
    const char *sizes;                          /* default of --sizes; NULL: the engine's default */
    int64_t (*size_unit)(const void *settings); /* bytes to whose multiples the sizes between the
                                                   ends of a range are rounded; NULL: 1 */
    enum timing timing;
    const struct pattern *pattern; /* what a size is the size of; NULL: PATTERN_MESSAGE */
    const struct mode *modes;      /* ends with an entry without a name */
    const char *const *phases; /* extra columns, names ending in _us, NULL at the end; or NULL */
    bool timeline;             /* record what each rank did when, as `phase_end` reports it */
    const struct kernel_option *options; /* ends with an entry without a name; or NULL */
    void *settings;                      /* the options write it; a task shows it as `settings` */
    void *state;                         /* the modes write it; a task shows it as `state` */
    const char *const *defaults;         /* arguments before the user's, NULL at the end; or NULL */

    /* Collective, in place of the sweep; it adds what it finds to the explorer's findings. NULL: a
     * sweep, or a search of the brackets that the user gives. */
    void (*explore)(struct explorer *explorer);

    /* A mode that searches by itself, not by time and brackets; NULL: none. */
    const struct mode *probe;
};

static inline const struct pattern *pattern_of(const struct kernel *kernel)
{
    return kernel->pattern != NULL ? kernel->pattern : &PATTERN_MESSAGE;
}

/* Runs the kernel: options, sweep, verification, record, table. Returns the exit code:
 * 0 measured and verified, 1 payload errors, 2 bad usage or an unwritable record. */
int engine_main(int argc, char **argv, const struct kernel *kernel);

#endif
