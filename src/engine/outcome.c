/* What standard output and standard error say about a run when it ends. */
#include "outcome.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "columns.h"

static void print_table(const struct session *session);
static void print_bandwidth(struct bandwidth bandwidth);
static void print_definition(const struct options *options);
static void print_precision(const struct options *options, const struct plan *plan);
static void print_point_time(const struct options *options, const struct plan *plan);
static void print_window(const struct options *options);
static void print_payload_errors(const struct session *session);

bool outcome_print(const struct session *session, const struct totals *totals)
{
    const struct kernel *kernel = session->kernel;
    const struct options *options = &session->options;
    const struct plan *plan = &session->plan;
    if (!options->quiet && explores(session)) {
        findings_print(stdout, &session->findings);
    } else if (!options->quiet) {
        print_table(session);
        print_precision(options, plan);
        print_point_time(options, plan);
    }
    if (!options->quiet) {
        print_window(options);
    }
    if (!options->quiet && session->shortened && explores(session)) {
        printf("the time budget of %ld s ended the searches\n", options->time_budget_s);
    } else if (!options->quiet && session->shortened) {
        printf("the time budget of %ld s ended the sweep before all %ld passes were complete\n",
               options->time_budget_s, options->passes);
    }
    print_payload_errors(session);
    printf(
        "switchpoint: complete kernel=%s points=%zu samples=%lld payload_errors=%lld record=%s\n",
        kernel->name, plan->count, (long long)totals->samples_kept,
        (long long)totals->payload_errors, options->record != NULL ? options->record : "none");
    if (fflush(stdout) == 0 && !ferror(stdout)) { /* now: MPI_Finalize may hang */
        return true;
    }
    fprintf(stderr, "%s: standard output cannot be written: %s; %s\n", kernel->name,
            strerror(errno), options->record != NULL ? "the record is complete" : "measure again");
    return false;
}

static int name_width(const struct plan *plan)
{
    int width = (int)strlen("mode");
    for (size_t i = 0; i < plan->count; i++) {
        const int length = (int)strlen(plan->points[i].mode->name);
        width = length > width ? length : width;
    }
    return width;
}

/* One line per point: quantiles over all samples, which are sorted, in us per message. */
static void print_table(const struct session *session)
{
    const struct plan *plan = &session->plan;
    const struct pattern *pattern = pattern_of(session->kernel);
    const int width = name_width(plan);
    const bool ranks = has_rank_columns(session->kernel);
    printf("%-*s %12s %13s %13s %27s", width, "mode", "size_bytes", "median_us", "min_us",
           "95 % of samples, us");
    for (int i = 0; ranks && i < RANK_COLUMN_COUNT; i++) {
        printf(" %13s", RANK_COLUMNS[i]);
    }
    printf(" %13s %13s %8s\n", "MB/s", "bus MB/s", "samples");
    for (size_t i = 0; i < plan->count; i++) {
        const struct point *point = &plan->points[i];
        const struct samples *samples = &point->samples;
        const double median_us = samples_quantile_us(samples, 0.5);
        printf("%-*s %12lld %13.3f %13.3f %13.3f %13.3f", width, point->mode->name,
               (long long)point->size_bytes, median_us, samples->min_us,
               samples_quantile_us(samples, 0.025), samples_quantile_us(samples, 0.975));
        for (int k = 0; ranks && k < RANK_COLUMN_COUNT; k++) {
            printf(" %13.3f", samples_quantile_us(&point->ranks[k], 0.5));
        }
        print_bandwidth(
            bandwidth_of(pattern, session->task.ranks, (double)point->size_bytes, median_us));
        printf(" %8ld\n", samples->count);
    }
    print_definition(&session->options);
}

/* How the calls started, since times depend on it. */
static void print_definition(const struct options *options)
{
    if (options->start == START_AGREED) {
        printf("calls started at an agreed time\n");
    } else if (options->start == START_BARRIER) {
        printf("calls started from a barrier\n");
    }
}

static void print_bandwidth(struct bandwidth bandwidth)
{
    if (isnan(bandwidth.algorithm_MBps)) {
        printf(" %13s %13s", "-", "-");
    } else {
        printf(" %13.2f %13.2f", bandwidth.algorithm_MBps, bandwidth.bus_MBps);
    }
}

static void print_precision(const struct options *options, const struct plan *plan)
{
    if (options->precision_percent == 0) {
        return;
    }
    size_t known = 0;
    for (size_t i = 0; i < plan->count; i++) {
        known += point_known_within(&plan->points[i], options->precision_percent);
    }
    printf("%zu of %zu medians are known to +-%ld %%; the other points took all %ld passes\n",
           known, plan->count, options->precision_percent, options->passes);
}

static void print_point_time(const struct options *options, const struct plan *plan)
{
    size_t spent = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct point *point = &plan->points[i];
        spent += point->passes.count < options->passes && point_is_spent(point, options);
    }
    if (spent > 0) {
        printf("%zu of %zu points used their --point-time of %ld ms in fewer than %ld passes\n",
               spent, plan->count, options->point_time_ms, options->passes);
    }
}

static void print_window(const struct options *options)
{
    bool streaming = false;
    for (size_t m = 0; m < options->mode_count; m++) {
        streaming = streaming || options->modes[m]->streams;
    }
    if (streaming && window_of(options) < options->window) {
        printf("streams have %d messages in flight at every size, not %ld: --window-kib %ld holds "
               "no more of the largest size\n",
               window_of(options), options->window, options->window_kib);
    }
}

static void print_payload_errors(const struct session *session)
{
    for (size_t i = 0; i < session->plan.count; i++) {
        const struct point *point = &session->plan.points[i];
        if (point->counts.payload_errors > 0) {
            fprintf(stderr, "%s: payload errors: mode %s, %lld bytes: %lld of %lld %s wrong\n",
                    session->kernel->name, point->mode->name, (long long)point->size_bytes,
                    (long long)point->counts.payload_errors, (long long)point->counts.payloads,
                    point->mode->result != NULL ? "results" : "payloads");
        }
    }
}
