/* The record's two JSON lines: the header before the samples and the footer after them. */
#include "contents.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "environment.h"
#include "memory.h"
#include "mpi_check.h"
#include "mpi_library.h"
#include "provenance.h"
#include "random.h"
#include "rank_facts.h"

enum { SCHEMA = 1 };

static const char *const COLUMNS[] = {"mode",   "size_bytes", "pass",
                                      "sample", "iterations", "time_us"};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

static void write_identity(struct json *json);
static void write_kernel(struct json *json, const struct kernel *kernel);
static void write_arguments(struct json *json, int argc, char **argv,
                            const struct options *options);
static void write_plan(struct json *json, const struct options *options);
static void write_clock(struct json *json);
static void write_mpi(struct json *json);
static void write_columns(struct json *json, const struct kernel *kernel);
static void write_point(struct json *json, const struct point *point);
static void write_traffic(struct json *json, const struct point *point);
static void write_bytes_between_nodes(struct json *json, const struct plan *plan);
static void write_round_time(struct json *json, const struct plan *plan,
                             const struct totals *totals);
static void write_activity(struct json *json, const struct kernel *kernel, const struct plan *plan);
static void write_spans(struct json *json, const struct activity *activity);
static double to_ns(double us);

void header_write(struct json *json, MPI_Comm comm, int argc, char **argv,
                  const struct kernel *kernel, const struct options *options)
{
    int rank = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    if (rank == 0) {
        json_open(json, NULL, '{');
        write_identity(json);
        write_kernel(json, kernel);
        write_arguments(json, argc, argv, options);
        write_plan(json, options);
        write_clock(json);
        write_mpi(json);
        environment_write_slurm(json, "slurm");
        write_columns(json, kernel);
    }
    ranks_write_before(comm, json, "ranks");
    if (rank == 0) {
        json_close(json, '}');
    }
}

static void write_identity(struct json *json)
{
    unsigned char random[16];
    char run_id[2 * sizeof random + 1];
    char now[UTC_LENGTH];
    random_entropy(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++) {
        snprintf(run_id + 2 * i, 3, "%02x", random[i]);
    }
    clock_utc(now);
    json_string(json, "record", "switchpoint");
    json_integer(json, "schema", SCHEMA);
    json_string(json, "run_id", run_id);
    json_string(json, "start_utc", now);
}

static void write_kernel(struct json *json, const struct kernel *kernel)
{
    json_open(json, "kernel", '{');
    json_string(json, "name", kernel->name);
    json_string(json, "version", PROVENANCE.version);
    json_string(json, "git_commit", PROVENANCE.git_commit);
    json_string(json, "builder", PROVENANCE.builder);
    json_string(json, "spec_hash", PROVENANCE.spec_hash);
    json_string(json, "compiler", PROVENANCE.compiler);
    json_string(json, "flags", PROVENANCE.flags);
    json_close(json, '}');
}

static void write_arguments(struct json *json, int argc, char **argv, const struct options *options)
{
    json_open(json, "arguments", '[');
    for (int i = 0; i < argc; i++) {
        json_string(json, NULL, argv[i]);
    }
    json_close(json, ']');

    json_open(json, "labels", '{');
    for (size_t i = 0; i < options->label_count; i++) {
        const char *label = options->labels[i];
        const size_t length = strcspn(label, "=");
        char *key = allocate(length + 1, 1);
        memcpy(key, label, length);
        json_string(json, key, label + length + 1);
        free(key);
    }
    json_close(json, '}');
}

static void write_plan(struct json *json, const struct options *options)
{
    json_open(json, "plan", '{');
    json_integer(json, "seed", options->seed);
    json_open(json, "modes", '[');
    for (size_t m = 0; m < options->mode_count; m++) {
        json_string(json, NULL, options->modes[m]->name);
    }
    json_close(json, ']');
    json_open(json, "sizes_bytes", '[');
    for (size_t s = 0; s < options->sizes.count; s++) {
        json_integer(json, NULL, options->sizes.bytes[s]);
    }
    json_close(json, ']');
    json_integer(json, "passes", options->passes);
    json_integer(json, "samples_per_pass", options->samples);
    json_integer(json, "block_time_us", options->block_time_us);
    json_integer(json, "pass_time_us", options->pass_time_ms * 1000);
    json_integer(json, "precision_percent", options->precision_percent);
    json_integer(json, "time_budget_s", options->time_budget_s);
    json_integer(json, "warmup", options->warmup);
    json_integer(json, "window", options->window);
    json_integer(json, "window_kib", options->window_kib);
    json_integer(json, "rotate_mib", options->rotate_mib);
    json_integer(json, "pause_us", options->pause_us);
    json_raw(json, "round_time", options->round_time ? "true" : "false");
    json_integer(json, "kept_per_point", options->kept);
    json_close(json, '}');
}

static void write_clock(struct json *json)
{
    const struct clock_facts clock = clock_measure();
    json_open(json, "clock", '{');
    json_string(json, "source", "MPI_Wtime");
    json_number(json, "tick_ns", clock.tick_ns);
    json_number(json, "step_ns", clock.step_ns);
    json_number(json, "overhead_ns", clock.overhead_ns);
    json_close(json, '}');
}

static void write_mpi(struct json *json)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    char description[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    char standard[32];
    int version = 0;
    int subversion = 0;
    MPI_CHECK(MPI_Get_version(&version, &subversion));
    mpi_library_name(library);
    MPI_CHECK(MPI_Get_library_version(description, &length));
    snprintf(standard, sizeof standard, "%d.%d", version, subversion);

    json_open(json, "mpi", '{');
    json_string(json, "library", library);
    json_string(json, "description", description);
    json_string(json, "standard", standard);
    mpi_library_write_cvars(json, "cvars");
    environment_write_mpi(json, "environment");
    json_close(json, '}');
}

static void write_columns(struct json *json, const struct kernel *kernel)
{
    json_open(json, "columns", '[');
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        json_string(json, NULL, COLUMNS[i]);
    }
    for (const char *const *phase = kernel->phases; phase != NULL && *phase != NULL; phase++) {
        json_string(json, NULL, *phase);
    }
    json_close(json, ']');
}

void column_names_write(FILE *out, const struct kernel *kernel)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        fprintf(out, "%s%s", i > 0 ? "," : "", COLUMNS[i]);
    }
    for (const char *const *phase = kernel->phases; phase != NULL && *phase != NULL; phase++) {
        fprintf(out, ",%s", *phase);
    }
    fputc('\n', out);
}

static void write_row(FILE *out, const struct point *point, int pass, long sample,
                      const double *values_us, size_t columns)
{
    fprintf(out, "%s,%d,%d,%ld,%ld", point->mode->name, point->size_bytes, pass, sample,
            point->iterations);
    for (size_t i = 0; i < columns; i++) {
        fprintf(out, ",%.6f", values_us[i]);
    }
    fputc('\n', out);
}

static double median_of_visit(const struct visit *visit)
{
    struct samples times;
    samples_start(&times, visit->blocks, visit->blocks);
    for (long block = 0; block < visit->blocks; block++) {
        samples_add(&times, visit->values_us[(size_t)block * visit->columns]);
    }
    samples_sort(&times);
    const double median_us = samples_quantile_us(&times, 0.5);
    samples_free(&times);
    return median_us;
}

void visit_write(FILE *out, struct point *point, int pass, const struct visit *visit)
{
    if (visit->blocks == 0) {
        return;
    }
    samples_add(&point->passes, median_of_visit(visit));
    samples_sort(&point->passes);
    const double *values_us = visit->values_us;
    for (long block = 0; block < visit->blocks; block++, values_us += visit->columns) {
        const bool kept = samples_add(&point->samples, values_us[0]);
        if (kept && out != NULL) {
            write_row(out, point, pass, block, values_us, visit->columns);
        }
    }
}

void footer_write(struct json *json, MPI_Comm comm, const struct kernel *kernel,
                  const struct options *options, const struct plan *plan,
                  const struct totals *totals)
{
    int rank = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    if (rank == 0) {
        char now[UTC_LENGTH];
        clock_utc(now);
        json_open(json, NULL, '{');
        json_string(json, "end", "switchpoint");
        json_string(json, "end_utc", now);
        json_integer(json, "samples", totals->samples_kept);
        json_raw(json, "shortened", totals->shortened ? "true" : "false");
        json_open(json, "points", '[');
        for (size_t i = 0; i < plan->count; i++) {
            write_point(json, &plan->points[i]);
        }
        json_close(json, ']');
        if (kernel->write_findings != NULL) {
            kernel->write_findings(json, kernel->settings);
        }
        json_open(json, "verification", '{');
        json_integer(json, "checks", totals->payloads);
        json_integer(json, "errors", totals->payload_errors);
        json_integer(json, "bytes_moved", totals->bytes_moved);
        write_bytes_between_nodes(json, plan);
        json_close(json, '}');
        if (options->round_time) {
            write_round_time(json, plan, totals);
        }
        if (kernel->timeline) {
            write_activity(json, kernel, plan);
        }
    }
    ranks_write_after(comm, json, "ranks");
    if (rank == 0) {
        json_close(json, '}');
    }
}

static void write_point(struct json *json, const struct point *point)
{
    const struct samples *samples = &point->samples;
    json_open(json, NULL, '{');
    json_string(json, "mode", point->mode->name);
    json_integer(json, "size_bytes", point->size_bytes);
    json_integer(json, "count", samples->count);
    json_integer(json, "kept", (int64_t)samples->kept);
    json_integer(json, "stride", samples->stride);
    json_number(json, "mean_us", samples->mean_us);
    json_number(json, "variance_us2", samples_variance_us2(samples));
    json_number(json, "min_us", samples->min_us);
    json_number(json, "max_us", samples->max_us);
    json_number(json, "median_us", samples_quantile_us(samples, 0.5));
    double low_us = NAN;
    double high_us = NAN;
    samples_median_interval_us(&point->passes, &low_us, &high_us);
    json_integer(json, "passes", point->passes.count);
    json_number(json, "passes_low_us", low_us);
    json_number(json, "passes_high_us", high_us);
    json_integer(json, "payload_errors", point->counts.payload_errors);
    if (point->mode->result != NULL) {
        write_traffic(json, point);
    }
    json_close(json, '}');
}

/* What one repetition sends: their mean, since what it sends may depend on the data. */
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

/* Of all bytes moved, where every mode counts what it sends. */
static void write_bytes_between_nodes(struct json *json, const struct plan *plan)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->points[i].mode->result == NULL) {
            return;
        }
        bytes += plan->points[i].counts.sent_between_nodes.bytes;
    }
    json_integer(json, "bytes_between_nodes", bytes);
}

static void write_round_time(struct json *json, const struct plan *plan,
                             const struct totals *totals)
{
    int64_t late_blocks = 0;
    for (size_t i = 0; i < plan->count; i++) {
        late_blocks += plan->points[i].late_blocks;
    }
    json_open(json, "round_time", '{');
    json_integer(json, "late_blocks", late_blocks);
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

/* Rounded: no clock tells more, and digits are most of a span. */
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
