/* The interface between a kernel and the engine.
 * A kernel fills one `struct kernel` and calls engine_main; the engine does all the rest. */
#ifndef SWITCHPOINT_ENGINE_H
#define SWITCHPOINT_ENGINE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "json.h"
#include "mpi_check.h"
#include "refusal.h"

/* What went from one rank to another. */
struct traffic {
    int64_t messages;
    int64_t bytes;
};

/* What a mode works on: one message size, in buffers that the engine owns. */
struct task {
    MPI_Comm comm;
    int rank;
    int ranks;
    int size_bytes;         /* message size; always fits an MPI count */
    int window;             /* messages in flight, for modes that stream */
    unsigned char *send;    /* page-aligned, holds this rank's payload */
    unsigned char *receive; /* page-aligned, apart from `send` */
    size_t copies;          /* of each of the two, a power of two; 1 unless they rotate */
    size_t copy_bytes;      /* from one copy to the next */
    long turn;              /* repetitions that the copies have seen */
    MPI_Request *requests;  /* as many as the mode asks for */
    double *phase_us;       /* one per phase of the kernel; zero when a block starts; add to it */
    struct traffic *sent;   /* one per rank: modes that compute add what they send to it */
    const int *nodes;       /* one per rank: the lowest rank on the same node */
    struct timeline *timeline; /* for `phase_end` */
    const void *settings;      /* the kernel's own options */
};

/* The buffers of the i-th repetition of a run, for modes that rotate: the copies whose turn it is.
 */
static inline size_t turn_offset(const struct task *task, long i)
{
    return ((size_t)(task->turn + i) & (task->copies - 1)) * task->copy_bytes;
}

static inline unsigned char *sent(const struct task *task, long i)
{
    return task->send + turn_offset(task, i);
}

static inline unsigned char *received(const struct task *task, long i)
{
    return task->receive + turn_offset(task, i);
}

/* Bytes that one repetition leaves in this rank's receive buffer, and whose payload they are. */
struct arrival {
    size_t offset; /* in the receive buffer */
    size_t bytes;
    int sender;
    size_t sent_offset; /* in the sender's send buffer */
};

/* How many parts of a result were compared at this rank, and how many of them were wrong. */
struct verdict {
    int64_t compared;
    int64_t wrong;
};

/* What a mode computes, where it does more than deliver payload; `size_bytes` is then that of the
 * problem's data. Each repetition computes anew from the input in the send buffer, which stays as
 * it is, and leaves its result in the receive buffer, in which all else that travels lies too.
 * When the timed blocks begin, every byte of the receive buffer is 0xFF (an integer -1, a NaN), so
 * that a result that nobody computed is wrong. */
struct result {
    /* Bytes of receive buffer that this rank needs: result and work space. */
    size_t (*bytes)(const struct task *task);

    /* Before the mode's `prepare`: this rank's part of the input. The key changes with size and
     * pass and is the same on every rank. */
    void (*fill)(const struct task *task, uint64_t key);

    /* After the mode's `release`, collective: holds this rank's part of the result against what
     * the input of `key` must give. */
    struct verdict (*check)(const struct task *task, uint64_t key);
};

/* A variant of the pattern. */
struct mode {
    const char *name;
    const char *summary; /* one line, with what time_us means */
    const char *source;  /* paper, equation or program that it follows */

    /* The pattern, `iterations` times over: all that the timed section holds. */
    void (*run)(const struct task *task, long iterations);

    /* Messages that one iteration's time is divided by; NULL when it is one, or a whole call. */
    long (*messages)(const struct task *task);

    /* The index-th arrival at this rank, for verification and for sizing the receive buffer;
     * false when there is none. Arrivals do not overlap. NULL when the mode has a result. */
    bool (*arrival)(const struct task *task, int index, struct arrival *arrival);

    /* NULL when payload that arrives is all there is to verify. */
    const struct result *result;

    /* Bytes of send buffer that this rank needs; NULL when one message is enough. */
    size_t (*send_bytes)(const struct task *task);

    /* Requests that this rank needs; NULL when one for each message in flight is enough. */
    size_t (*requests)(const struct task *task);

    /* Whether the mode can serve these ranks, this size and the kernel's options, the same on every
     * rank; refuses them with what would do. Asked before anything runs; NULL when it always can.
     */
    bool (*suits)(const struct task *task, struct refusal *refusal);

    /* Before and after the runs at one point of one pass, untimed; NULL when nothing is needed. */
    void (*prepare)(const struct task *task);
    void (*release)(const struct task *task);

    bool once;    /* a block is one repetition, neither warmed up nor calibrated */
    bool at_root; /* rank 0 works alone: its clock counts, whatever the kernel's timing says */
    bool rotates; /* each repetition takes its buffers from `sent` and `received` */
};

/* An option of one kernel, beside those that every kernel has. */
struct kernel_option {
    const char *name;       /* with its dashes: "--grain" */
    const char *value_name; /* "US" */
    const char *help;       /* with unit and default */
    /* Stores the value in the settings, or refuses it with what would do. */
    bool (*accept)(void *settings, const char *value, struct refusal *refusal);
};

/* For `accept`: stores a whole number from `least` to `most`, or refuses the value of the option.
 */
bool accept_number(const char *option, const char *value, long least, long most, long *number,
                   struct refusal *refusal);

/* Ends a phase that began at MPI_Wtime() `start`: adds it to `phase_us`, and to the rank's timeline
 * where one is being kept. */
void phase_end(const struct task *task, int phase, double start);

/* Whose clock counts: rank 0's, for patterns that end where they start, or that of the slowest
 * rank, each block then starting from a barrier; `ALONE`: a block is one repetition, for patterns
 * whose next repetition would start before the slowest rank has ended this one. */
enum timing { TIME_AT_ROOT, TIME_OF_SLOWEST, TIME_OF_SLOWEST_ALONE };

/* For a kernel that chooses each point by what those before it have shown. */
struct explorer {
    const struct task *task;
    const struct mode *const *modes; /* those asked for */
    size_t mode_count;
    int smallest_bytes; /* of the sizes asked for */
    int largest_bytes;
    long pause_us;   /* idle before each timed block; at first as asked for */
    long warmup;     /* untimed repetitions before the blocks; at first as asked for */
    long iterations; /* repetitions in a block; 0: as many as fill the block time, see below */
    struct exploration *exploration; /* the engine's own */
};

/* What one visit to a point measured, the same on every rank, until the next visit: per block the
 * time and then the kernel's phases, in us per message. */
struct blocks {
    long count;
    size_t columns;
    const double *values_us;
    long iterations; /* repetitions in each */
    bool first;      /* the first visit to that point */
};

/* Collective. Visits one of the explorer's modes at a size between its smallest and its largest.
 * The samples go into the record like those of a sweep, each visit being a pass of that point. The
 * first visit to a point finds out how many repetitions fill a block, unless the explorer says so.
 */
struct blocks explore(struct explorer *explorer, const struct mode *mode, int size_bytes);

/* Collective. Whether the ranks that share a running operating system may use as many cores as they
 * are, the same on every rank. */
bool cores_suffice(MPI_Comm comm);

struct kernel {
    const char *name;
    const char *summary; /* one line */
    int ranks_min;
    int ranks_max; /* 0: no bound */
    bool ranks_even;
    const char *sizes; /* default of --sizes; NULL: the engine's */
    enum timing timing;
    const struct mode *modes;  /* ends with an entry without a name */
    const char *const *phases; /* extra columns, names ending in _us, NULL at the end; or NULL */
    bool timeline;             /* keep in the record what each rank did when, by `phase_end` */
    const struct kernel_option *options; /* ends with an entry without a name; or NULL */
    void *settings;                      /* what `options` fill and `task.settings` shows */
    const char *const *defaults;         /* arguments before the user's, NULL at the end; or NULL */

    /* Collective, in place of the sweep; NULL for a sweep. What it found it keeps in the settings,
     * writes into the record's footer, and prints in place of the table of points. */
    void (*explore)(struct explorer *explorer, void *settings);
    void (*write_findings)(struct json *json, const void *settings);
    void (*print_findings)(FILE *out, const void *settings);
};

/* Runs the kernel: options, sweep, verification, record, table. Returns the exit code:
 * 0 measured and verified, 1 payload errors, 2 bad usage or an unwritable record. */
int engine_main(int argc, char **argv, const struct kernel *kernel);

#endif
