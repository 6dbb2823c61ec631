/* The record's last line: what was found and verified, and how the ranks fared. */
#include "footer.h"

#include <math.h>

#include "clock.h"
#include "rank_facts.h"

static void write_body(struct json *json, const struct session *session,
                       const struct totals *totals);
static void write_point(struct json *json, const struct session *session,
                        const struct point *point);
static void write_bandwidth(struct json *json, const struct session *session,
                            const struct point *point);
static void write_switches(struct json *json, const struct point *point);
static void write_traffic(struct json *json, const struct point *point);
static void write_verification(struct json *json, const struct plan *plan,
                               const struct totals *totals);
static void write_arrived(struct json *json, const struct plan *plan, const struct totals *totals);
static void write_bytes_between_nodes(struct json *json, const struct plan *plan);
static void write_start(struct json *json, const struct plan *plan, const struct totals *totals);
static void write_activity(struct json *json, const struct kernel *kernel, const struct plan *plan);
static void write_spans(struct json *json, const struct activity *activity);
static double to_ns(double us);

void footer_write(struct json *json, const struct session *session, const struct totals *totals)
{
    const bool writing = session->task.rank == 0;
    if (writing) {
        json_open(json, NULL, '{');
        write_body(json, session, totals);
    }
    ranks_write_after(session->task.comm, json, "ranks", session->counters,
                      session->options.ucx_protocols);
    if (writing) {
        json_close(json, '}');
    }
}

static void write_body(struct json *json, const struct session *session,
                       const struct totals *totals)
{
    const struct kernel *kernel = session->kernel;
    const struct plan *plan = &session->plan;
    char now[UTC_LENGTH];
    clock_utc(now);
    json_string(json, "end", "switchpoint");
    json_string(json, "end_utc", now);
    json_integer(json, "samples", totals->samples_kept);
    json_raw(json, "shortened", session->shortened ? "true" : "false");
    json_open(json, "points", '[');
    for (size_t i = 0; i < plan->count; i++) {
        write_point(json, session, &plan->points[i]);
    }
    json_close(json, ']');
    if (explores(session)) {
        findings_write(json, &session->findings);
    }
    write_verification(json, plan, totals);
    if (session->options.start == START_AGREED) {
        write_start(json, plan, totals);
    }
    if (kernel->timeline) {
        write_activity(json, kernel, plan);
    }
}

static void write_point(struct json *json, const struct session *session, const struct point *point)
{
    const struct samples *samples = &point->samples;
    json_open(json, NULL, '{');
    json_string(json, "mode", point->mode->name);
    json_integer(json, "size_bytes", point->size_bytes);
    if (point->mode->streams) {
        json_integer(json, "window", window_of(&session->options));
    }
    json_integer(json, "count", samples->count);
    json_integer(json, "kept", (int64_t)samples->kept);
    json_integer(json, "stride", samples->stride);
    json_number(json, "mean_us", samples->mean_us);
    json_number(json, "variance_us2", samples_variance_us2(samples));
    json_number(json, "min_us", samples->min_us);
    json_number(json, "max_us", samples->max_us);
    json_number(json, "median_us", samples_quantile_us(samples, 0.5));
    for (int i = 0; has_rank_columns(session->kernel) && i < RANK_COLUMN_COUNT; i++) {
        json_number(json, RANK_COLUMNS[i], samples_quantile_us(&point->ranks[i], 0.5));
    }
    write_bandwidth(json, session, point);
    double low_us = NAN;
    double high_us = NAN;
    samples_median_interval_us(&point->passes, &low_us, &high_us);
    json_integer(json, "passes", point->passes.count);
    json_number(json, "passes_low_us", low_us);
    json_number(json, "passes_high_us", high_us);
    json_integer(json, "payload_errors", point->counts.payload_errors);
    write_switches(json, point);
    if (counts_traffic(point->mode)) {
        write_traffic(json, point);
    }
    json_close(json, '}');
}

/* At the median. */
static void write_bandwidth(struct json *json, const struct session *session,
                            const struct point *point)
{
    const struct bandwidth bandwidth =
        bandwidth_of(pattern_of(session->kernel), session->task.ranks, (double)point->size_bytes,
                     samples_quantile_us(&point->samples, 0.5));
    json_number(json, "algorithm_MBps", bandwidth.algorithm_MBps);
    json_number(json, "bus_MBps", bandwidth.bus_MBps);
}

/* Of each visit. */
static void write_switches(struct json *json, const struct point *point)
{
    json_open(json, "voluntary_switches", '[');
    for (long visit = 0; visit < point->switches_count; visit++) {
        json_integer(json, NULL, point->switches[visit].voluntary);
    }
    json_close(json, ']');
    json_open(json, "involuntary_switches", '[');
    for (long visit = 0; visit < point->switches_count; visit++) {
        json_integer(json, NULL, point->switches[visit].involuntary);
    }
    json_close(json, ']');
}

/* What one repetition sends, on average: it may depend on the data. */
static void write_traffic(struct json *json, const struct point *point)
{
    const double repetitions = (double)point->repetitions;
    const struct traffic *between = &point->counts.sent_between_nodes;
    json_open(json, "traffic", '{');
    json_number(json, "messages", (double)point->counts.sent.messages / repetitions);
    json_number(json, "bytes", (double)point->counts.sent.bytes / repetitions);
    json_number(json, "messages_between_nodes", (double)between->messages / repetitions);
    json_number(json, "bytes_between_nodes", (double)between->bytes / repetitions);
    json_close(json, '}');
}

static void write_verification(struct json *json, const struct plan *plan,
                               const struct totals *totals)
{
    json_open(json, "verification", '{');
    json_integer(json, "checks", totals->payloads);
    json_integer(json, "errors", totals->payload_errors);
    write_arrived(json, plan, totals);
    json_integer(json, "bytes_moved", totals->bytes_moved);
    write_bytes_between_nodes(json, plan);
    json_close(json, '}');
}

/* Of how many payloads some were compared. Only where no mode computes: parts of a result are other
 * things than messages. */
static void write_arrived(struct json *json, const struct plan *plan, const struct totals *totals)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->points[i].mode->result != NULL) {
            return;
        }
    }
    json_integer(json, "arrived", totals->arrived);
}

/* Only where every mode counts what it sends. */
static void write_bytes_between_nodes(struct json *json, const struct plan *plan)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (!counts_traffic(plan->points[i].mode)) {
            return;
        }
        bytes += plan->points[i].counts.sent_between_nodes.bytes;
    }
    json_integer(json, "bytes_between_nodes", bytes);
}

static void write_start(struct json *json, const struct plan *plan, const struct totals *totals)
{
    int64_t calls = 0;
    int64_t late_calls = 0;
    for (size_t i = 0; i < plan->count; i++) {
        calls += plan->points[i].calls;
        late_calls += plan->points[i].late_calls;
    }
    json_open(json, "start", '{');
    json_integer(json, "calls", calls);
    json_integer(json, "late_calls", late_calls);
    json_number(json, "clock_error_us", to_ns(totals->clock_error_us));
    json_close(json, '}');
}

static void write_activity(struct json *json, const struct kernel *kernel, const struct plan *plan)
{
    json_open(json, "activity", '{');
    json_open(json, "phases", '[');
    for (const char *const *phase = kernel->phases; *phase != NULL; phase++) {
        json_string(json, NULL, *phase);
    }
    json_close(json, ']');
    json_open(json, "points", '[');
    for (size_t i = 0; i < plan->count; i++) {
        const struct point *point = &plan->points[i];
        json_open(json, NULL, '{');
        json_string(json, "mode", point->mode->name);
        json_integer(json, "size_bytes", point->size_bytes);
        write_spans(json, &point->activity);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* Rounds to nanoseconds: no clock resolves more, and the digits are most of a span's text. */
static double to_ns(double us)
{
    return round(us * 1e3) / 1e3;
}

static void write_spans(struct json *json, const struct activity *activity)
{
    json_number(json, "length_us", to_ns(activity->length_us));
    json_number(json, "clock_error_us", to_ns(activity->clock_error_us));
    json_open(json, "spans", '[');
    for (size_t i = 0; i < activity->count; i++) {
        const struct span *span = &activity->spans[i];
        json_open(json, NULL, '[');
        json_integer(json, NULL, span->rank);
        json_integer(json, NULL, span->phase);
        json_number(json, NULL, to_ns(span->start_us));
        json_number(json, NULL, to_ns(span->end_us));
        json_close(json, ']');
    }
    json_close(json, ']');
}
