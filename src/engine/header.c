/* The record's first line: what runs where, and what it plans. */
#include "header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms.h"
#include "clock.h"
#include "columns.h"
#include "environment.h"
#include "memory.h"
#include "mpi_check.h"
#include "mpi_library.h"
#include "mpi_stack.h"
#include "provenance.h"
#include "random.h"
#include "rank_facts.h"

enum { SCHEMA = 1 };

static void write_identity(struct json *json);
static void write_kernel(struct json *json, const struct kernel *kernel);
static void write_arguments(struct json *json, const struct session *session);
static void write_plan(struct json *json, const struct session *session);
static void write_clock(struct json *json, const struct clock_facts *clock);
static void write_mpi(struct json *json);
static void write_columns(struct json *json, const struct kernel *kernel);

void header_write(struct json *json, const struct session *session)
{
    const bool writing = session->task.rank == 0;
    if (writing) {
        json_open(json, NULL, '{');
        write_identity(json);
        write_kernel(json, session->kernel);
        write_arguments(json, session);
        write_plan(json, session);
        write_clock(json, &session->clock);
        write_mpi(json);
        environment_write_slurm(json, "slurm");
        write_columns(json, session->kernel);
    }
    ranks_write_before(session->task.comm, json, "ranks");
    if (writing) {
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
    json_string(json, "pattern", pattern_of(kernel)->name);
    json_string(json, "version", PROVENANCE.version);
    json_string(json, "git_commit", PROVENANCE.git_commit);
    json_string(json, "builder", PROVENANCE.builder);
    json_string(json, "spec_hash", PROVENANCE.spec_hash);
    json_string(json, "compiler", PROVENANCE.compiler);
    json_string(json, "flags", PROVENANCE.flags);
    json_close(json, '}');
}

static void write_arguments(struct json *json, const struct session *session)
{
    const struct options *options = &session->options;
    json_open(json, "arguments", '[');
    for (int i = 0; i < session->argc; i++) {
        json_string(json, NULL, session->argv[i]);
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

static void write_modes(struct json *json, const struct options *options)
{
    json_open(json, "modes", '[');
    for (size_t m = 0; m < options->mode_count; m++) {
        json_string(json, NULL, options->modes[m]->name);
    }
    json_close(json, ']');
    json_open(json, "algorithms", '{');
    for (size_t m = 0; m < options->mode_count; m++) {
        if (options->modes[m]->algorithm != NULL) {
            json_integer(json, options->modes[m]->name, options->modes[m]->algorithm->value);
        }
    }
    json_close(json, '}');
}

static void write_plan(struct json *json, const struct session *session)
{
    const struct kernel *kernel = session->kernel;
    const struct options *options = &session->options;
    json_open(json, "plan", '{');
    json_integer(json, "seed", options->seed);
    write_modes(json, options);
    json_open(json, "sizes_bytes", '[');
    for (size_t s = 0; s < options->sizes.count; s++) {
        json_integer(json, NULL, options->sizes.bytes[s]);
    }
    json_close(json, ']');
    json_raw(json, "searches", explores(session) ? "true" : "false");
    json_integer(json, "passes", options->passes);
    json_integer(json, "samples_per_pass", options->samples);
    json_integer(json, "block_time_us", options->block_time_us);
    json_integer(json, "pass_time_us", options->pass_time_ms * 1000);
    json_integer(json, "point_time_us", options->point_time_ms * 1000);
    json_integer(json, "precision_percent", options->precision_percent);
    json_integer(json, "time_budget_s", options->time_budget_s);
    json_integer(json, "warmup", options->warmup);
    json_integer(json, "window", options->window);
    json_integer(json, "window_kib", options->window_kib);
    json_open(json, "windows", '{');
    for (size_t m = 0; m < options->mode_count; m++) {
        if (options->modes[m]->streams) {
            json_integer(json, options->modes[m]->name, window_of(options));
        }
    }
    json_close(json, '}');
    json_integer(json, "rotate_mib", options->rotate_mib);
    json_integer(json, "buffer_offset_bytes", options->buffer_offset_bytes);
    json_integer(json, "pause_us", options->pause_us);
    json_string(json, "start", start_name(options->start));
    json_open(json, "time_of", '{');
    for (size_t m = 0; m < options->mode_count; m++) {
        const struct mode *mode = options->modes[m];
        json_string(json, mode->name, time_of_name(time_of(options, kernel, mode)));
    }
    json_close(json, '}');
    json_integer(json, "kept_per_point", options->kept);
    json_close(json, '}');
}

static void write_clock(struct json *json, const struct clock_facts *clock)
{
    json_open(json, "clock", '{');
    json_string(json, "source", CLOCK_SOURCE_NAME);
    json_number(json, "tick_ns", clock->tick_ns);
    json_number(json, "step_ns", clock->step_ns);
    json_number(json, "overhead_ns", clock->overhead_ns);
    json_raw(json, "overhead_taken_out", "true");
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
    mpi_stack_write(json, "stack");
    json_close(json, '}');
}

static void write_column(void *json, const char *name)
{
    json_string(json, NULL, name);
}

static void write_columns(struct json *json, const struct kernel *kernel)
{
    json_open(json, "columns", '[');
    each_column(kernel, write_column, json);
    json_close(json, ']');
}
