/* What each rank did when, in one repetition: the spans of a kernel's phases on rank 0's clock. */
#include "timeline.h"

#include <stdlib.h>

#include "agreement.h"
#include "at_root.h"
#include "clock.h"
#include "clock_offset.h"
#include "memory.h"
#include "mpi_check.h"

/* Repetitions of which the median is taken; odd. */
enum { WATCHED_MAX = 11 };

/* How long a repetition was, and which one it was. */
struct length {
    double us;
    int repetition;
};

static void watch(struct task *task, const struct mode *mode, struct timeline *timelines,
                  struct length *lengths, double *starts_us, int count);
static int median_of(struct length *lengths, int count);
static void gather(const struct task *task, const struct timeline *mine, double start_us,
                   struct clock_offset offset, struct activity *activity);

long timeline_watch(struct task *task, const struct mode *mode, long most,
                    struct activity *activity)
{
    struct length lengths[WATCHED_MAX];
    double starts_us[WATCHED_MAX];
    const int count = most < WATCHED_MAX ? (int)(most > 1 ? most : 1) : WATCHED_MAX;
    struct timeline *timelines = allocate((size_t)count, sizeof *timelines);

    const struct clock_offset before = clock_offset_from_root(task->comm, task->kernels);
    watch(task, mode, timelines, lengths, starts_us, count);
    const struct clock_offset after = clock_offset_from_root(task->comm, task->kernels);
    const int median = (int)root_number(task->comm, median_of(lengths, count));
    for (int i = 0; task->rank == 0 && i < count; i++) {
        if (lengths[i].repetition == median) {
            activity->length_us = lengths[i].us;
        }
    }
    gather(task, &timelines[median], starts_us[median],
           clock_offset_between(before, after, starts_us[median]), activity);
    free(timelines);
    return count;
}

static void watch(struct task *task, const struct mode *mode, struct timeline *timelines,
                  struct length *lengths, double *starts_us, int count)
{
    for (int i = 0; i < count; i++) {
        task->timeline = &timelines[i];
        MPI_CHECK(MPI_Barrier(task->comm));
        starts_us[i] = clock_us();
        mode->run(task, 1);
        lengths[i] = (struct length){.us = clock_us() - starts_us[i], .repetition = i};
        sleep_until_root_ends(mode, task);
    }
    task->timeline = NULL;
}

static int by_length(const void *left, const void *right)
{
    const double a = ((const struct length *)left)->us;
    const double b = ((const struct length *)right)->us;
    return (a > b) - (a < b);
}

static int median_of(struct length *lengths, int count)
{
    qsort(lengths, (size_t)count, sizeof *lengths, by_length);
    return lengths[(count - 1) / 2].repetition;
}

/* Sends each rank's spans to rank 0, on whose clock they are then. */
static void gather(const struct task *task, const struct timeline *mine, double start_us,
                   struct clock_offset offset, struct activity *activity)
{
    MPI_CHECK(MPI_Reduce(&offset.error_us, &activity->clock_error_us, 1, MPI_DOUBLE, MPI_MAX, 0,
                         task->comm));
    MPI_CHECK(MPI_Bcast(&start_us, 1, MPI_DOUBLE, 0, task->comm));
    struct timeline moved = *mine;
    for (int i = 0; i < moved.count; i++) {
        moved.spans[i].start_us -= offset.us + start_us;
        moved.spans[i].end_us -= offset.us + start_us;
    }

    struct timeline *all = allocate(task->rank == 0 ? (size_t)task->ranks : 0, sizeof *all);
    const int bytes = (int)sizeof moved;
    MPI_CHECK(MPI_Gather(&moved, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, task->comm));
    const int ranks = task->ranks < TIMELINE_RANKS_MAX ? task->ranks : TIMELINE_RANKS_MAX;
    activity->spans = allocate((size_t)ranks * TIMELINE_SPANS_MAX, sizeof *activity->spans);
    for (int rank = 0; task->rank == 0 && rank < ranks; rank++) {
        for (int i = 0; i < all[rank].count; i++) {
            activity->spans[activity->count++] = all[rank].spans[i];
        }
    }
    free(all);
}
