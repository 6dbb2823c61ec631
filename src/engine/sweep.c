/* The sweep: passes over all points, each pass in an order of its own. */
#include "sweep.h"

#include "agreement.h"
#include "budget.h"
#include "clock.h"
#include "measure.h"
#include "rows.h"

static void make_pass(struct session *session, int pass);
static double expected_us(const struct session *session, const struct point *point);
static bool is_done(const struct session *session, const struct point *point);

bool sweep(struct session *session)
{
    bool writable = true;
    for (int pass = 0; writable && !session->shortened && pass < session->options.passes; pass++) {
        make_pass(session, pass);
        writable = root_says(session->task.comm, record_flush(&session->record));
    }
    return writable;
}

static void make_pass(struct session *session, int pass)
{
    struct plan *plan = &session->plan;
    plan_shuffle(plan, (uint64_t)session->options.seed, pass);
    for (size_t i = 0; i < plan->count; i++) {
        struct point *point = &plan->points[plan->order[i]];
        if (is_done(session, point)) {
            continue;
        }
        if (budget_is_spent(session, expected_us(session, point))) {
            return;
        }
        const double start_us = clock_us();
        measure(session, point, pass);
        rows_add(session, point, pass);
        point->visit_us = clock_us() - start_us;
    }
}

/* How long the next visit takes: as long as the last one. The first one calibrates with a block of
 * the least length, and times another. */
static double expected_us(const struct session *session, const struct point *point)
{
    const struct options *options = &session->options;
    const double least_us = (double)(2 * options->block_time_us + options->pause_us);
    return point->visit_us > 0 ? point->visit_us : least_us;
}

/* Collective. Whether further passes may skip the point: it is known well enough, or has used its
 * time. */
static bool is_done(const struct session *session, const struct point *point)
{
    const struct options *options = &session->options;
    if (options->precision_percent == 0 && options->point_time_ms == 0) {
        return false;
    }
    const bool precise =
        options->precision_percent > 0 && point_known_within(point, options->precision_percent);
    return root_says(session->task.comm, precise || point_is_spent(point, options));
}
