/* The phases of a task. */
#include "task.h"

#include "timeline.h"

void phase_end(const struct task *task, int phase, double start)
{
    const double end = MPI_Wtime();
    task->phase_us[phase] += (end - start) * 1e6;
    struct timeline *timeline = task->timeline;
    if (timeline != NULL && timeline->count < TIMELINE_SPANS_MAX) {
        timeline->spans[timeline->count++] = (struct span){
            .rank = task->rank, .phase = phase, .start_us = start * 1e6, .end_us = end * 1e6};
    }
}
