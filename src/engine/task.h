/* What a mode works on: one message size, in buffers that the engine owns. */
#ifndef SWITCHPOINT_TASK_H
#define SWITCHPOINT_TASK_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct timeline;

/* What one rank sent to another. */
struct traffic {
    int64_t messages;
    int64_t bytes;
};

/* Readings of the clock within a block. What they cost is no part of the block's time. */
struct readings {
    double each_us;
    long count;
};

struct task {
    MPI_Comm comm;
    int rank;
    int ranks;
    int64_t size_bytes;        /* message size; an int unless the mode is `large` */
    const void *variant;       /* the mode's `variant` */
    const void *settings;      /* the values of the kernel's own options */
    void *state;               /* the kernel's own, kept for the whole run */
    int window;                /* messages in flight, for modes that stream */
    unsigned char *send;       /* holds this rank's payload, at a given place in a page */
    unsigned char *receive;    /* at the same place in another page */
    size_t copies;             /* of each of the two, a power of two; 1 unless they rotate */
    size_t copy_bytes;         /* from one copy to the next */
    long turn;                 /* repetitions that the copies have seen */
    MPI_Request *requests;     /* as many as the mode asks for */
    double *phase_us;          /* one per phase of the kernel; zero when a block starts */
    struct readings *readings; /* of the block in progress; see `phase_begin` */
    struct traffic *traffic;   /* one per rank: what this rank has sent to it; see `count_sent` */
    const int *nodes;          /* one per rank: the lowest rank on the same node */
    const int *kernels;        /* the same for the same running operating system and its clocks */
    struct timeline *timeline; /* where `phase_end` keeps the phases; NULL most of the time */
};

/* The size as a count of MPI 3, for modes that are not `large`. */
static inline int count_of(const struct task *task)
{
    return (int)task->size_bytes;
}

/* Offset of the copies whose turn it is in the i-th repetition of a run; for modes that rotate. */
static inline size_t turn_offset(const struct task *task, long i)
{
    return ((size_t)(task->turn + i) & (task->copies - 1)) * task->copy_bytes;
}

/* The send buffer and the receive buffer of the i-th repetition of a run, for modes that rotate. */
static inline unsigned char *sent(const struct task *task, long i)
{
    return task->send + turn_offset(task, i);
}

static inline unsigned char *received(const struct task *task, long i)
{
    return task->receive + turn_offset(task, i);
}

/* Modes with a `result` call this for each message that they send. */
static inline void count_sent(const struct task *task, size_t bytes, int to)
{
    task->traffic[to].messages++;
    task->traffic[to].bytes += (int64_t)bytes;
}

/* Reads the clock for the beginning of a phase, in us. */
double phase_begin(const struct task *task);

/* Ends a phase that began at `begun_us`: adds its time, without a reading, to `phase_us`, and adds
 * it to the timeline while the engine keeps one. Returns the time in us, at which another phase may
 * begin without a reading of its own. */
double phase_end(const struct task *task, int phase, double begun_us);

#endif
