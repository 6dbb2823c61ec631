/* The phases of a task. */
#include "task.h"

#include <math.h>

#include "clock.h"
#include "timeline.h"

double phase_begin(const struct task *task)
{
    task->readings->count++;
    return clock_us();
}

double phase_end(const struct task *task, int phase, double begun_us)
{
    const double end_us = clock_us();
    task->readings->count++;
    task->phase_us[phase] += fmax(end_us - begun_us - task->readings->each_us, 0);
    struct timeline *timeline = task->timeline;
    if (timeline != NULL && timeline->count < TIMELINE_SPANS_MAX) {
        timeline->spans[timeline->count++] = (struct span){
            .rank = task->rank, .phase = phase, .start_us = begun_us, .end_us = end_us};
    }
    return end_us;
}
