/* The order of things in a run: options, buffers, record, sweep, footer, table. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agreement.h"
#include "budget.h"
#include "buffers.h"
#include "clock.h"
#include "columns.h"
#include "cores.h"
#include "exit_codes.h"
#include "exploration.h"
#include "footer.h"
#include "header.h"
#include "help.h"
#include "kernel.h"
#include "launch.h"
#include "memory.h"
#include "mpi_library.h"
#include "needs.h"
#include "nodes.h"
#include "outcome.h"
#include "provenance.h"
#include "random.h"
#include "rows.h"
#include "session.h"
#include "streams.h"
#include "sweep.h"
#include "totals.h"
#include "ucx_protocols.h"

static void start_mpi(struct session *session);
static int run(struct session *session, int started);
static int print_information(const struct session *session);
static void print_version(const struct kernel *kernel);
static void agree_on_seed(MPI_Comm comm, struct options *options);
static bool points_suit(const struct session *session, struct refusal *refusal);
static void allocate_all(struct session *session, struct refusal *refusal);
static void free_all(struct session *session);
static int measure_all(struct session *session);
static bool start_record(struct session *session);
static int finish(struct session *session);
static void leave(int rank);

int engine_main(int argc, char **argv, const struct kernel *kernel)
{
    streams_fill();
    const int started = processes_started();
    struct session session = {.argc = argc, .argv = argv, .kernel = kernel};
    start_mpi(&session);
    const int exit_code = run(&session, started);
    free_all(&session);
    ucx_protocols_end();
    leave(session.task.rank);
    return exit_code;
}

static void start_mpi(struct session *session)
{
    struct task *task = &session->task;
    const bool ucx = asks_for_ucx_protocols(session->argc, session->argv);
    if (ucx) {
        ucx_protocols_ask();
    }
    if (asks_for_algorithms(session->argc, session->argv)) {
        algorithms_allow();
    }
    MPI_Init(&session->argc, &session->argv);
    if (ucx) {
        ucx_protocols_asked();
    }
    MPI_CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    task->comm = MPI_COMM_WORLD;
    task->settings = session->kernel->settings;
    task->state = session->kernel->state;
    task->readings = &session->readings;
    MPI_CHECK(MPI_Comm_rank(task->comm, &task->rank));
    MPI_CHECK(MPI_Comm_size(task->comm, &task->ranks));
}

static void agree_on_start(MPI_Comm comm, struct options *options)
{
    if (options->start == START_BY_CORES) {
        options->start = root_says(comm, cores_suffice(comm)) ? START_AGREED : START_BARRIER;
    }
}

/* Everything that can be refused, then the measurement. */
static int run(struct session *session, int started)
{
    const struct kernel *kernel = session->kernel;
    struct options *options = &session->options;
    struct task *task = &session->task;
    struct refusal refusal = {""};
    ranks_agree(task->comm, kernel, session->argc, session->argv, &refusal);
    if (refused_anywhere(task->comm, kernel->name, &refusal)) {
        return EXIT_USAGE;
    }
    const bool understood = options_parse(session->argc, session->argv, kernel, options, &refusal);
    if (understood && (options->help || options->version)) {
        return print_information(session);
    }
    if (understood) {
        ranks_suit(kernel, started, task->ranks, &refusal);
    }
    if (refused_anywhere(task->comm, kernel->name, &refusal)) {
        return EXIT_USAGE;
    }
    algorithm_modes_add(task->comm, kernel, options, &session->algorithms, &refusal);
    if (refused_anywhere(task->comm, kernel->name, &refusal)) {
        return EXIT_USAGE;
    }
    agree_on_seed(task->comm, options);
    agree_on_start(task->comm, options);
    plan_start(&session->plan, options);
    if (options->counters != NULL) {
        session->counters = mpi_counters_start(options->counters, &refusal);
        if (refused_anywhere(task->comm, kernel->name, &refusal)) {
            return EXIT_USAGE;
        }
    }
    session->findings.probe = kernel->probe;
    brackets_take(&options->brackets, options->modes, options->mode_count);
    if (points_suit(session, &refusal)) {
        exploration_suits(session, &refusal);
    }
    if (refused_anywhere(task->comm, kernel->name, &refusal)) {
        return EXIT_USAGE;
    }
    allocate_all(session, &refusal);
    if (refused_anywhere(task->comm, kernel->name, &refusal)) {
        return EXIT_USAGE;
    }
    if (task->rank == 0) {
        record_open(&session->record, options->record, &refusal);
    }
    return refused_anywhere(task->comm, kernel->name, &refusal) ? EXIT_USAGE : measure_all(session);
}

static int print_information(const struct session *session)
{
    if (session->task.rank == 0 && session->options.help) {
        help_print(stdout, session->kernel);
    } else if (session->task.rank == 0) {
        print_version(session->kernel);
    }
    return EXIT_VERIFIED;
}

static void print_version(const struct kernel *kernel)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    mpi_library_name(library);
    printf("%s %s (commit %s, %s, %s, %s)\n%s\n", kernel->name, PROVENANCE.version,
           PROVENANCE.git_commit != NULL ? PROVENANCE.git_commit : "unknown", PROVENANCE.builder,
           PROVENANCE.compiler, PROVENANCE.flags, library);
}

static void agree_on_seed(MPI_Comm comm, struct options *options)
{
    if (options->seed < 0) {
        uint32_t seed = 0;
        random_entropy(&seed, sizeof seed);
        options->seed = (long)seed;
    }
    options->seed = root_number(comm, options->seed);
}

static bool points_suit(const struct session *session, struct refusal *refusal)
{
    enum { NUMBERS_ALIGNED = 64 }; /* for the widest vectors of a processor */
    struct task task = session->task;
    for (size_t i = 0; i < session->plan.count; i++) {
        const struct mode *mode = session->plan.points[i].mode;
        task_show(&task, &session->options, &session->plan.points[i]);
        if (task.size_bytes > INT_MAX && !mode->large) {
            return refuse(refusal,
                          "--sizes: mode %s takes messages of up to %d bytes; leave out %lld",
                          mode->name, INT_MAX, (long long)task.size_bytes);
        }
        if (session->options.rotate_mib > 0 && !mode->rotates) {
            return refuse(refusal,
                          "--rotate: mode %s always uses the same buffers; choose other modes",
                          mode->name);
        }
        if (mode->result != NULL && session->options.buffer_offset_bytes % NUMBERS_ALIGNED != 0) {
            return refuse(refusal,
                          "--buffer-offset: mode %s computes with numbers in its buffers; give a "
                          "multiple of %d",
                          mode->name, NUMBERS_ALIGNED);
        }
        if (mode->suits != NULL && !mode->suits(&task, refusal)) {
            return false;
        }
    }
    return true;
}

/* Collective. */
static void allocate_all(struct session *session, struct refusal *refusal)
{
    struct task *task = &session->task;
    session->room = explores(session) ? needs_up_to(&session->plan, &session->options, *task)
                                      : needs_of(&session->plan, &session->options, *task);
    int *nodes = allocate((size_t)task->ranks, sizeof *nodes);
    nodes_find(task->comm, nodes);
    task->nodes = nodes;
    int *kernels = allocate((size_t)task->ranks, sizeof *kernels);
    kernels_find(task->comm, kernels);
    task->kernels = kernels;
    task->requests = allocate(session->room.requests, sizeof(MPI_Request));
    task->traffic = allocate((size_t)task->ranks, sizeof *task->traffic);
    struct visit *visit = &session->visit;
    visit->columns = column_count(session->kernel);
    visit->first_phase = first_phase_column(session->kernel);
    visit->call_phases_us = allocate(visit->columns - visit->first_phase, sizeof(double));
    visit->values_us = allocate((size_t)session->options.samples * visit->columns, sizeof(double));
    visit->iterations = allocate((size_t)session->options.samples, sizeof(long));
    message_buffers(task->comm, session->room.send_bytes, session->room.receive_bytes,
                    (size_t)session->options.buffer_offset_bytes, &task->send, &task->receive,
                    refusal);
}

static void free_all(struct session *session)
{
    record_free(&session->record);
    mpi_counters_free(session->counters);
    free(session->visit.values_us);
    free(session->visit.iterations);
    free(session->visit.call_phases_us);
    free(session->visit.calls_us);
    free(session->visit.ranks_us);
    const size_t offset_bytes = (size_t)session->options.buffer_offset_bytes;
    message_buffer_free(session->task.receive, offset_bytes);
    message_buffer_free(session->task.send, offset_bytes);
    free(session->task.traffic);
    free(session->task.requests);
    free((void *)session->task.nodes);
    free((void *)session->task.kernels);
    plan_free(&session->plan);
    free(session->findings.searches);
    algorithm_modes_free(&session->algorithms);
    options_free(&session->options);
}

static int measure_all(struct session *session)
{
    budget_start(session);
    const bool measured =
        start_record(session) && (explores(session) ? explore_all(session) : sweep(session));
    return measured ? finish(session) : EXIT_USAGE;
}

static bool start_record(struct session *session)
{
    session->clock = clock_measure();
    session->readings.each_us = session->clock.overhead_ns / 1e3;
    struct json header = {0};
    header_write(&header, session);
    if (session->record.file != NULL) {
        fprintf(session->record.file, "%s\n", header.text);
        column_names_write(session->record.file, session->kernel);
    }
    json_free(&header);
    return root_says(session->task.comm, record_flush(&session->record));
}

/* Adds up, and completes the record before anything is printed about it. */
static int finish(struct session *session)
{
    struct plan *plan = &session->plan;
    for (size_t i = 0; i < plan->count; i++) {
        samples_sort(&plan->points[i].samples);
        for (int k = 0; k < RANK_COLUMN_COUNT; k++) {
            samples_sort(&plan->points[i].ranks[k]);
        }
    }
    const struct totals totals = add_up(session);
    struct json footer = {0};
    footer_write(&footer, session, &totals);
    if (session->record.file != NULL) {
        fprintf(session->record.file, "%s\n", footer.text);
    }
    json_free(&footer);
    if (!root_says(session->task.comm, record_finish(&session->record))) {
        return EXIT_USAGE;
    }
    const bool printed = session->task.rank != 0 || outcome_print(session, &totals);
    if (!root_says(session->task.comm, printed)) {
        return EXIT_USAGE;
    }
    return root_says(session->task.comm, totals.payload_errors == 0) ? EXIT_VERIFIED : EXIT_WRONG;
}

/* Over TCP, UCX may hang in MPI_Finalize when both ends enter it at once (openucx #8738): one run
 * in ten between two nodes under MPICH 4.0.2, none in 120 when rank 0 comes last. */
static void leave(int rank)
{
    const struct timespec head_start = {.tv_nsec = 50000000};
    if (rank == 0) {
        nanosleep(&head_start, NULL);
    }
    MPI_CHECK(MPI_Finalize());
}
