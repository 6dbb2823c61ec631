/* One visit to one point: poison, warm up, calibrate, mark, time the blocks, verify. */
#include "measure.h"

#include <math.h>
#include <string.h>

#include "abort_job.h"
#include "algorithms.h"
#include "block.h"
#include "budget.h"
#include "calibration.h"
#include "clock.h"
#include "exit_codes.h"
#include "mpi_check.h"
#include "needs.h"
#include "timeline.h"
#include "verification.h"

static long prepare(struct session *session, struct point *point, int pass);
static void require_room(const struct session *session, const struct mode *mode);
static long calibrate_again(struct session *session, struct point *point);
static long blocks_in_time(struct session *session, const struct point *point);
static void mark(struct task *task, const struct mode *mode, int pass);
static long time_blocks(struct session *session, struct point *point);
static void add_switches(const struct session *session, struct point *point,
                         struct switches before);
static void verify(const struct task *task, struct point *point, int pass, size_t repetitions);
static int64_t account(const struct task *task, struct point *point, int64_t repetitions);
static int64_t payloads_per_iteration(const struct mode *mode, const struct task *task);
static int64_t bytes_per_iteration(const struct mode *mode, const struct task *task);
static void add_traffic(struct traffic *sum, const struct traffic *more);

void measure(struct session *session, struct point *point, int pass)
{
    struct task *task = &session->task;
    const struct mode *mode = point->mode;
    MPI_Comm comm = task->comm;
    if (mode->algorithm != NULL) {
        task->comm = mode->algorithm->comm;
        algorithm_begin(mode->algorithm);
    }
    const long untimed = prepare(session, point, pass);
    mark(task, mode, pass);
    const struct switches before = switches_now();
    const long timed = time_blocks(session, point);
    add_switches(session, point, before);
    if (mode->release != NULL) {
        mode->release(task);
    }
    if (mode->algorithm != NULL) {
        algorithm_end(mode->algorithm);
        task->comm = comm;
    }
    verify(task, point, pass, (size_t)timed);
    session->bytes_moved += account(task, point, untimed + timed);
}

/* Everything before the timed blocks. Returns the repetitions that it ran. */
static long prepare(struct session *session, struct point *point, int pass)
{
    struct task *task = &session->task;
    const struct mode *mode = point->mode;
    task_turn_to(task, &session->options, point);
    require_room(session, mode);
    task->phase_us = session->visit.call_phases_us; /* the timed blocks overwrite it */
    memset(task->traffic, 0, (size_t)task->ranks * sizeof *task->traffic);
    for (size_t copy = 0; copy < task->copies; copy++) {
        const struct task turned = with_copy(task, copy);
        input_fill(&turned, mode, pass);
        output_poison(&turned, mode, pass);
    }
    if (mode->prepare != NULL) {
        mode->prepare(task);
    }
    long untimed = 0;
    if (!mode->once && !point->settled && !known_slow(session, point)) {
        untimed = calibrate_again(session, point);
    }
    point->blocks = mode->once ? 1 : point->blocks;
    session->visit.blocks = blocks_in_time(session, point);
    if (session->kernel->timeline && point->repetitions == 0) {
        const long most = point->blocks * point->iterations;
        untimed += timeline_watch(task, mode, most, &point->activity);
    }
    /* The first block then follows a repetition, as the others do, not a barrier, which ranks leave
     * one after another, nor a broadcast. Explorations compare points, so that all of theirs are
     * prepared in one way, however slow. */
    const bool warm = !mode->once && (point->settled || !point->slow);
    const long warmup = warm ? session->options.warmup : 0;
    MPI_CHECK(MPI_Barrier(task->comm));
    repeat(mode, task, warmup);
    return untimed + warmup;
}

/* Whatever chose the point, no message may overwrite what lies beyond the buffers. */
static void require_room(const struct session *session, const struct mode *mode)
{
    const struct task *task = &session->task;
    if (!needs_fit(task, mode, &session->room)) {
        abort_job(task->comm, EXIT_DEFECT,
                  "%s: mode %s at %lld bytes does not fit the buffers; report this as a bug",
                  session->kernel->name, mode->name, (long long)task->size_bytes);
    }
}

/* The very first repetition connects the ranks, and says nothing about the point but that it is not
 * slow. Returns the repetitions that it ran. */
static long calibrate_again(struct session *session, struct point *point)
{
    const long first = point->repetitions == 0 && session->options.warmup > 0 ? 1 : 0;
    const double start_us = clock_us();
    repeat(point->mode, &session->task, first);
    const double first_us = first > 0 ? clock_us() - start_us : INFINITY;
    return first + calibrate(session, point, first_us);
}

/* Collective. The point's blocks, or as many of them as the time budget has room for. A point that
 * was neither tried nor visited has blocks of at least the time that was asked for. */
static long blocks_in_time(struct session *session, const struct point *point)
{
    const double least_us = (double)(session->options.block_time_us + session->options.pause_us);
    return budget_fits(session, point->blocks, fmax(point->block_us, least_us));
}

/* Marks after the last untimed repetition, so that only a timed one can put all bytes right, and
 * few bytes, so that caches stay as that repetition left them. The next turn is then the first
 * copy's, which has been out of use for longest. */
static void mark(struct task *task, const struct mode *mode, int pass)
{
    for (size_t copy = 0; copy < task->copies; copy++) {
        const struct task turned = with_copy(task, copy);
        output_mark(&turned, mode, pass);
    }
    task->turn = 0;
}

/* Returns the repetitions that ran, those of late calls too. */
static long time_blocks(struct session *session, struct point *point)
{
    const struct visit *visit = &session->visit;
    const double messages = messages_of(point->mode, &session->task);
    long repetitions = 0;
    const double start_us = clock_us();
    for (long block = 0; block < visit->blocks; block++) {
        agree_on_start(session);
        double *values_us = visit->values_us + (size_t)block * visit->columns;
        long *counted = &visit->iterations[block];
        repetitions += block_time(session, point, values_us, counted);
        point->blocks_us += values_us[0] * messages * (double)*counted;
    }
    point->block_us = (clock_us() - start_us) / (double)visit->blocks;
    return repetitions;
}

/* Those of all ranks since `before`. */
static void add_switches(const struct session *session, struct point *point, struct switches before)
{
    const struct switches now = switches_now();
    const struct switches own = {now.voluntary - before.voluntary,
                                 now.involuntary - before.involuntary};
    struct switches all = {0};
    MPI_CHECK(MPI_Reduce(&own, &all, 2, MPI_INT64_T, MPI_SUM, 0, session->task.comm));
    if (session->task.rank == 0) {
        point_add_switches(point, all);
    }
}

/* The copies that had a turn in these repetitions. */
static void verify(const struct task *task, struct point *point, int pass, size_t repetitions)
{
    for (size_t copy = 0; copy < task->copies && copy < repetitions; copy++) {
        const struct task turned = with_copy(task, copy);
        output_verify(&turned, point, pass);
    }
}

/* Adds what this visit moved to the point's counts. Returns the bytes that it moved to this rank,
 * or from this rank where a mode counts what it sends: summed over all ranks both are the same. Of
 * a library's result nobody knows what was sent; it is at least as long as the result. */
static int64_t account(const struct task *task, struct point *point, int64_t repetitions)
{
    point->repetitions += repetitions;
    if (point->mode->result == NULL) {
        point->counts.arrived += repetitions * payloads_per_iteration(point->mode, task);
        return repetitions * bytes_per_iteration(point->mode, task);
    }
    if (!counts_traffic(point->mode)) {
        return repetitions * (int64_t)point->mode->result->bytes(task);
    }
    int64_t bytes = 0;
    for (int to = 0; to < task->ranks; to++) {
        bytes += task->traffic[to].bytes;
        add_traffic(&point->counts.sent, &task->traffic[to]);
        if (task->nodes[to] != task->nodes[task->rank]) {
            add_traffic(&point->counts.sent_between_nodes, &task->traffic[to]);
        }
    }
    return bytes;
}

static int64_t payloads_per_iteration(const struct mode *mode, const struct task *task)
{
    int64_t payloads = 0;
    struct arrival arrival;
    for (int i = 0; mode->arrival(task, i, &arrival); i++) {
        payloads += arrival.bytes > 0;
    }
    return payloads;
}

static int64_t bytes_per_iteration(const struct mode *mode, const struct task *task)
{
    int64_t bytes = 0;
    struct arrival arrival;
    for (int i = 0; mode->arrival(task, i, &arrival); i++) {
        bytes += (int64_t)arrival.bytes;
    }
    return bytes;
}

static void add_traffic(struct traffic *sum, const struct traffic *more)
{
    sum->messages += more->messages;
    sum->bytes += more->bytes;
}
