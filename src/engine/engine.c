/* The order of things in a run: options, buffers, record, sweep, footer, table. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "contents.h"
#include "explorer.h"
#include "measure.h"
#include "memory.h"
#include "mpi_library.h"
#include "nodes.h"
#include "options.h"
#include "plan.h"
#include "provenance.h"
#include "random.h"
#include "record.h"
#include "table.h"

enum { EXIT_VERIFIED = 0, EXIT_PAYLOAD = 1, EXIT_USAGE = 2 };

/* What the largest point needs on this rank. */
struct room {
    size_t send_bytes;
    size_t receive_bytes;
    size_t requests;
};

static int run(int argc, char **argv, const struct kernel *kernel, struct options *options,
               struct task *task);
static int processes_started(void);
static bool ranks_suit(const struct kernel *kernel, int started, int ranks,
                       struct refusal *refusal);
static void agree_on_seed(MPI_Comm comm, struct options *options);
static bool points_suit(const struct plan *plan, const struct options *options, struct task task,
                        struct refusal *refusal);
static struct room room_needed(const struct plan *plan, const struct options *options,
                               struct task task);
static int sweep(int argc, char **argv, const struct kernel *kernel, const struct options *options,
                 struct task *task, struct plan *plan, struct record *record);
static bool start_record(int argc, char **argv, const struct kernel *kernel,
                         const struct options *options, MPI_Comm comm, struct record *record);
static bool budget_spent(MPI_Comm comm, const struct options *options, double start_us);
static bool precise_enough(MPI_Comm comm, const struct options *options, const struct point *point);
static bool known_within(const struct point *point, long percent);
static struct totals total_up(MPI_Comm comm, struct plan *plan, int64_t bytes_moved);
static bool finish_record(MPI_Comm comm, const struct kernel *kernel, const struct options *options,
                          const struct plan *plan, const struct totals *totals,
                          struct record *record);
static bool root_says(MPI_Comm comm, bool answer);
static void leave(int rank);
static void print_outcome(const struct kernel *kernel, const struct options *options,
                          const struct plan *plan, const struct totals *totals);
static void print_precision(const struct options *options, const struct plan *plan);
static void print_version(const struct kernel *kernel);

int engine_main(int argc, char **argv, const struct kernel *kernel)
{
    const int started = processes_started(); /* Open MPI sets such variables in MPI_Init. */
    MPI_Init(&argc, &argv);
    MPI_CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));

    struct task task = {.comm = MPI_COMM_WORLD, .settings = kernel->settings};
    MPI_CHECK(MPI_Comm_rank(task.comm, &task.rank));
    MPI_CHECK(MPI_Comm_size(task.comm, &task.ranks));

    struct options options;
    struct refusal refusal = {""};
    int exit_code = EXIT_VERIFIED;
    const bool understood = options_parse(argc, argv, kernel, &options, &refusal);
    if (understood && (options.help || options.version)) {
        if (task.rank == 0 && options.help) {
            options_help(stdout, kernel);
        } else if (task.rank == 0) {
            print_version(kernel);
        }
    } else {
        if (understood) {
            ranks_suit(kernel, started, task.ranks, &refusal);
        }
        exit_code = refused_anywhere(task.comm, kernel->name, &refusal)
                        ? EXIT_USAGE
                        : run(argc, argv, kernel, &options, &task);
    }
    options_free(&options);
    leave(task.rank);
    return exit_code;
}

/* Over TCP, UCX may hang in MPI_Finalize for ever when both ends enter it at once (openucx #8738):
 * one run in ten between two nodes under MPICH 4.0.2, none in 120 with rank 0 coming last. */
static void leave(int rank)
{
    const struct timespec head_start = {.tv_nsec = 50000000};
    if (rank == 0) {
        nanosleep(&head_start, NULL);
    }
    MPI_CHECK(MPI_Finalize());
}

/* How many processes the launcher says that it started; 0 where it says nothing. */
static int processes_started(void)
{
    static const char *const variables[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE",
                                            "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL) {
            return (int)strtol(value, NULL, 10);
        }
    }
    return 0;
}

static bool ranks_suit(const struct kernel *kernel, int started, int ranks, struct refusal *refusal)
{
    /* An MPI library that cannot talk to its launcher makes a job of its own of each process. */
    if (ranks == 1 && started > 1) {
        return refuse(refusal,
                      "started as %d jobs of one rank, not as one job: this MPI library does not "
                      "understand its launcher; with srun try --mpi=pmix or --mpi=pmi2, else use "
                      "the mpiexec of this MPI",
                      started);
    }
    if (kernel->ranks_max == kernel->ranks_min && ranks != kernel->ranks_min) {
        return refuse(refusal, "started with %d rank%s but needs exactly %d; use mpirun -n %d",
                      ranks, ranks == 1 ? "" : "s", kernel->ranks_min, kernel->ranks_min);
    }
    if (ranks < kernel->ranks_min) {
        return refuse(refusal, "started with %d rank%s but needs %d or more; use mpirun -n %d",
                      ranks, ranks == 1 ? "" : "s", kernel->ranks_min, kernel->ranks_min);
    }
    if (kernel->ranks_even && ranks % 2 != 0) {
        return refuse(refusal, "started with %d ranks but needs an even number; use mpirun -n %d",
                      ranks, ranks + 1);
    }
    if (kernel->ranks_max > 0 && ranks > kernel->ranks_max) {
        return refuse(refusal, "started with %d ranks but takes %d at most; use mpirun -n %d",
                      ranks, kernel->ranks_max, kernel->ranks_max);
    }
    return true;
}

/* Everything that can still be refused, then the sweep. */
static int run(int argc, char **argv, const struct kernel *kernel, struct options *options,
               struct task *task)
{
    struct refusal refusal = {""};
    struct plan plan;
    struct record record = {0};
    int exit_code = EXIT_USAGE;

    int *nodes = allocate((size_t)task->ranks, sizeof *nodes);
    nodes_find(task->comm, nodes);
    agree_on_seed(task->comm, options);
    plan_start(&plan, options);
    if (points_suit(&plan, options, *task, &refusal)) {
        const struct room room = room_needed(&plan, options, *task);
        task->requests = allocate(room.requests, sizeof(MPI_Request));
        task->sent = allocate((size_t)task->ranks, sizeof *task->sent);
        task->nodes = nodes;
        message_buffers(task->comm, room.send_bytes, room.receive_bytes, &task->send,
                        &task->receive, &refusal);
    }

    if (!refused_anywhere(task->comm, kernel->name, &refusal)) {
        if (task->rank == 0) {
            record_open(&record, options->record, &refusal);
        }
        if (!refused_anywhere(task->comm, kernel->name, &refusal)) {
            exit_code = sweep(argc, argv, kernel, options, task, &plan, &record);
        }
    }
    record_free(&record);
    free(task->receive);
    free(task->send);
    free(task->sent);
    free(task->requests);
    free(nodes);
    plan_free(&plan);
    return exit_code;
}

static void agree_on_seed(MPI_Comm comm, struct options *options)
{
    if (options->seed < 0) {
        uint32_t seed = 0;
        random_entropy(&seed, sizeof seed);
        options->seed = (long)seed;
    }
    MPI_CHECK(MPI_Bcast(&options->seed, 1, MPI_LONG, 0, comm));
}

static bool points_suit(const struct plan *plan, const struct options *options, struct task task,
                        struct refusal *refusal)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct mode *mode = plan->points[i].mode;
        task_turn_to(&task, options, &plan->points[i]);
        if (options->rotate_mib > 0 && !mode->rotates) {
            return refuse(refusal, "--rotate: mode %s keeps its buffers; choose other modes",
                          mode->name);
        }
        if (mode->suits != NULL && !mode->suits(&task, refusal)) {
            return false;
        }
    }
    return true;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct room room_needed(const struct plan *plan, const struct options *options,
                               struct task task)
{
    struct room room = {0};
    for (size_t i = 0; i < plan->count; i++) {
        const struct mode *mode = plan->points[i].mode;
        task_turn_to(&task, options, &plan->points[i]);
        room.send_bytes = larger(room.send_bytes, send_bytes_needed(mode, &task));
        room.receive_bytes = larger(room.receive_bytes, receive_bytes_needed(mode, &task));
        room.requests = larger(room.requests, requests_needed(mode, &task));
    }
    return room;
}

static int sweep(int argc, char **argv, const struct kernel *kernel, const struct options *options,
                 struct task *task, struct plan *plan, struct record *record)
{
    struct visit visit = {.columns = 1};
    for (const char *const *phase = kernel->phases; phase != NULL && *phase != NULL; phase++) {
        visit.columns++;
    }
    visit.values_us = allocate((size_t)options->samples * visit.columns, sizeof(double));

    bool writable = start_record(argc, argv, kernel, options, task->comm, record);
    int64_t bytes_moved = 0;
    if (writable && kernel->explore != NULL) {
        bytes_moved = explore_all(kernel, options, task, plan, &visit, record);
        writable = root_says(task->comm, record_flush(record));
    }
    const int passes = kernel->explore != NULL ? 0 : (int)options->passes;
    const double start_us = clock_us();
    bool shortened = false;
    for (int pass = 0; writable && !shortened && pass < passes; pass++) {
        plan_shuffle(plan, (uint64_t)options->seed, pass);
        for (size_t i = 0; i < plan->count; i++) {
            shortened = budget_spent(task->comm, options, start_us);
            if (shortened) {
                break;
            }
            struct point *point = &plan->points[plan->order[i]];
            if (precise_enough(task->comm, options, point)) {
                continue;
            }
            bytes_moved += measure(kernel, options, task, point, pass, &visit);
            if (task->rank == 0) {
                visit_write(record->file, point, pass, &visit);
            }
        }
        writable = root_says(task->comm, record_flush(record));
    }
    free(visit.values_us);
    if (!writable) {
        return EXIT_USAGE;
    }

    for (size_t i = 0; i < plan->count; i++) {
        samples_sort(&plan->points[i].samples);
    }
    struct totals totals = total_up(task->comm, plan, bytes_moved);
    totals.shortened = shortened;
    MPI_CHECK(MPI_Reduce(&visit.start.clock_error_us, &totals.clock_error_us, 1, MPI_DOUBLE,
                         MPI_MAX, 0, task->comm));
    if (!finish_record(task->comm, kernel, options, plan, &totals, record)) {
        return EXIT_USAGE;
    }
    if (task->rank == 0) {
        print_outcome(kernel, options, plan, &totals);
    }
    return root_says(task->comm, totals.payload_errors == 0) ? EXIT_VERIFIED : EXIT_PAYLOAD;
}

static bool start_record(int argc, char **argv, const struct kernel *kernel,
                         const struct options *options, MPI_Comm comm, struct record *record)
{
    struct json header = {0};
    header_write(&header, comm, argc, argv, kernel, options);
    if (record->file != NULL) {
        fprintf(record->file, "%s\n", header.text);
        column_names_write(record->file, kernel);
    }
    json_free(&header);
    return root_says(comm, record_flush(record));
}

/* Collective. Whether the sweep, which began at `start_us`, has had its time. */
static bool budget_spent(MPI_Comm comm, const struct options *options, double start_us)
{
    return options->time_budget_s > 0 &&
           root_says(comm, clock_us() - start_us > (double)options->time_budget_s * 1e6);
}

/* Collective. Whether further passes over the point can be left out. */
static bool precise_enough(MPI_Comm comm, const struct options *options, const struct point *point)
{
    return options->precision_percent > 0 &&
           root_says(comm, known_within(point, options->precision_percent));
}

/* Judged by the medians of passes, which are apart in time: samples of one pass agree with one
 * another more than with the next pass's. */
static bool known_within(const struct point *point, long percent)
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

static struct totals total_up(MPI_Comm comm, struct plan *plan, int64_t bytes_moved)
{
    struct totals totals = {0};
    MPI_CHECK(MPI_Reduce(&bytes_moved, &totals.bytes_moved, 1, MPI_INT64_T, MPI_SUM, 0, comm));

    struct counts *own = allocate(plan->count, sizeof *own);
    struct counts *all = allocate(plan->count, sizeof *all);
    for (size_t i = 0; i < plan->count; i++) {
        own[i] = plan->points[i].counts;
    }
    const size_t numbers = plan->count * sizeof *own / sizeof(int64_t);
    MPI_CHECK(MPI_Reduce(own, all, (int)numbers, MPI_INT64_T, MPI_SUM, 0, comm));
    for (size_t i = 0; i < plan->count; i++) {
        plan->points[i].counts = all[i];
        totals.payloads += all[i].payloads;
        totals.payload_errors += all[i].payload_errors;
        totals.samples_kept += (int64_t)plan->points[i].samples.kept;
    }
    free(all);
    free(own);
    return totals;
}

static bool finish_record(MPI_Comm comm, const struct kernel *kernel, const struct options *options,
                          const struct plan *plan, const struct totals *totals,
                          struct record *record)
{
    struct json footer = {0};
    footer_write(&footer, comm, kernel, options, plan, totals);
    if (record->file != NULL) {
        fprintf(record->file, "%s\n", footer.text);
    }
    json_free(&footer);
    return root_says(comm, record_finish(record));
}

/* Rank 0's answer, on every rank. */
static bool root_says(MPI_Comm comm, bool answer)
{
    int said = answer;
    MPI_CHECK(MPI_Bcast(&said, 1, MPI_INT, 0, comm));
    return said != 0;
}

static void print_outcome(const struct kernel *kernel, const struct options *options,
                          const struct plan *plan, const struct totals *totals)
{
    if (!options->quiet && kernel->print_findings != NULL) {
        kernel->print_findings(stdout, kernel->settings);
    } else if (!options->quiet) {
        table_print(stdout, plan);
        print_precision(options, plan);
    }
    if (!options->quiet && totals->shortened) {
        printf("the time budget of %ld s ended the sweep before its %ld passes were done\n",
               options->time_budget_s, options->passes);
    }
    for (size_t i = 0; i < plan->count; i++) {
        const struct point *point = &plan->points[i];
        if (point->counts.payload_errors > 0) {
            fprintf(stderr, "%s: payload errors: mode %s, %d bytes: %lld of %lld %s wrong\n",
                    kernel->name, point->mode->name, point->size_bytes,
                    (long long)point->counts.payload_errors, (long long)point->counts.payloads,
                    point->mode->result != NULL ? "results" : "payloads");
        }
    }
    printf(
        "switchpoint: complete kernel=%s points=%zu samples=%lld payload_errors=%lld record=%s\n",
        kernel->name, plan->count, (long long)totals->samples_kept,
        (long long)totals->payload_errors, options->record != NULL ? options->record : "none");
}

static void print_precision(const struct options *options, const struct plan *plan)
{
    if (options->precision_percent == 0) {
        return;
    }
    size_t known = 0;
    for (size_t i = 0; i < plan->count; i++) {
        known += known_within(&plan->points[i], options->precision_percent);
    }
    printf("%zu of %zu medians are known to +-%ld %%; the other points took all %ld passes\n",
           known, plan->count, options->precision_percent, options->passes);
}

static void print_version(const struct kernel *kernel)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    mpi_library_name(library);
    printf("%s %s (commit %s, %s, %s, %s)\n%s\n", kernel->name, PROVENANCE.version,
           PROVENANCE.git_commit != NULL ? PROVENANCE.git_commit : "unknown", PROVENANCE.builder,
           PROVENANCE.compiler, PROVENANCE.flags, library);
}
