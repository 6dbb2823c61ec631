/* The points of a run: every mode at every size, in a new seeded random order on each pass. */
#include "plan.h"

#include <stdlib.h>

#include "memory.h"
#include "random.h"

static void point_start(struct point *point, const struct mode *mode, int64_t size_bytes,
                        const struct options *options);

void plan_start(struct plan *plan, const struct options *options)
{
    plan->count = options->mode_count * options->sizes.count;
    plan->points = allocate(plan->count, sizeof *plan->points);
    plan->order = allocate(plan->count, sizeof *plan->order);
    struct point *point = plan->points;
    for (size_t m = 0; m < options->mode_count; m++) {
        for (size_t s = 0; s < options->sizes.count; s++, point++) {
            point_start(point, options->modes[m], options->sizes.bytes[s], options);
        }
    }
}

static void point_start(struct point *point, const struct mode *mode, int64_t size_bytes,
                        const struct options *options)
{
    *point = (struct point){.mode = mode, .size_bytes = size_bytes, .iterations = 1};
    samples_start(&point->samples, options->passes * options->samples, options->kept,
                  (uint64_t)options->seed + (uint64_t)size_bytes);
    for (int i = 0; i < RANK_COLUMN_COUNT; i++) {
        samples_start(&point->ranks[i], options->passes * options->samples, options->kept,
                      (uint64_t)options->seed + (uint64_t)size_bytes);
    }
    samples_start(&point->passes, options->passes, options->passes, 0);
}

struct point *plan_point(struct plan *plan, const struct mode *mode, int64_t size_bytes,
                         const struct options *options)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->points[i].mode == mode && plan->points[i].size_bytes == size_bytes) {
            return &plan->points[i];
        }
    }
    plan->points = reallocate(plan->points, (plan->count + 1) * sizeof *plan->points);
    struct point *point = &plan->points[plan->count++];
    point_start(point, mode, size_bytes, options);
    return point;
}

void plan_shuffle(struct plan *plan, uint64_t seed, int pass)
{
    uint64_t state = seed;
    state = random_next(&state) + (uint64_t)pass;
    for (size_t i = 0; i < plan->count; i++) {
        plan->order[i] = i;
    }
    for (size_t i = plan->count; i > 1; i--) {
        const size_t k = (size_t)random_below(&state, i);
        const size_t swapped = plan->order[k];
        plan->order[k] = plan->order[i - 1];
        plan->order[i - 1] = swapped;
    }
}

bool point_is_spent(const struct point *point, const struct options *options)
{
    return options->point_time_ms > 0 && point->blocks_us >= (double)options->point_time_ms * 1e3;
}

/* The medians of the passes decide, since passes are apart in time: samples of one pass agree with
 * one another more than with those of the next pass. */
bool point_known_within(const struct point *point, long percent)
{
    double low_us = 0;
    double high_us = 0;
    if (!samples_median_interval_us(&point->passes, &low_us, &high_us)) {
        return false;
    }
    const double median_us = samples_quantile_us(&point->passes, 0.5);
    const double share = (double)percent / 100;
    return low_us >= (1 - share) * median_us && high_us <= (1 + share) * median_us;
}

void point_add_switches(struct point *point, struct switches switches)
{
    if (point->switches_count < VISITS_KEPT_MAX) {
        const size_t count = (size_t)point->switches_count + 1;
        point->switches = reallocate(point->switches, count * sizeof *point->switches);
        point->switches[point->switches_count++] = switches;
    }
}

void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        samples_free(&plan->points[i].samples);
        for (int k = 0; k < RANK_COLUMN_COUNT; k++) {
            samples_free(&plan->points[i].ranks[k]);
        }
        samples_free(&plan->points[i].passes);
        free(plan->points[i].switches);
        free(plan->points[i].activity.spans);
    }
    free(plan->points);
    free(plan->order);
}
