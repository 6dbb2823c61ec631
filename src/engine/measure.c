/* One visit to one point: poison, warm up, calibrate, mark, time the blocks, verify. */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "calibration.h"
#include "clock.h"
#include "mpi_check.h"
#include "needs.h"
#include "timeline.h"
#include "verification.h"

enum { EXIT_NO_ROOM = 4 };

static long prepare(struct session *session, struct point *point, int pass);
static void require_room(const struct session *session, const struct mode *mode);
static long calibrate_again(struct session *session, struct point *point);
static void mark(struct task *task, const struct mode *mode, int pass);
static long time_blocks(struct session *session, struct point *point);
static void time_block(struct session *session, struct point *point, double *values_us);
static double without_readings(double time_us, const struct session *session);
static void idle(const struct task *task, long pause_us);
static void verify(const struct task *task, struct point *point, int pass, size_t repetitions);
static int64_t account(const struct task *task, struct point *point, int64_t repetitions);
static int64_t bytes_per_iteration(const struct mode *mode, const struct task *task);
static void add_traffic(struct traffic *sum, const struct traffic *more);

void measure(struct session *session, struct point *point, int pass)
{
    struct task *task = &session->task;
    const struct mode *mode = point->mode;
    const long untimed = prepare(session, point, pass);
    mark(task, mode, pass);
    const long blocks = time_blocks(session, point);
    if (mode->release != NULL) {
        mode->release(task);
    }
    verify(task, point, pass, (size_t)(session->visit.blocks * point->iterations));
    session->bytes_moved += account(task, point, untimed + blocks * point->iterations);
}

/* Everything before the timed blocks. Returns the repetitions that it ran. */
static long prepare(struct session *session, struct point *point, int pass)
{
    struct task *task = &session->task;
    const struct mode *mode = point->mode;
    task_turn_to(task, &session->options, point);
    require_room(session, mode);
    task->phase_us = session->visit.values_us + 1; /* the timed blocks overwrite it */
    memset(task->traffic, 0, (size_t)task->ranks * sizeof *task->traffic);
    for (size_t copy = 0; copy < task->copies; copy++) {
        const struct task turned = with_copy(task, copy);
        input_fill(&turned, mode, pass);
        output_poison(&turned, mode, pass);
    }
    if (mode->prepare != NULL) {
        mode->prepare(task);
    }
    /* Explorations compare points, so all of theirs are prepared alike, however slow. */
    const bool warm = !mode->once && (point->settled || !known_slow(session, point));
    long untimed = warm && !point->settled ? calibrate_again(session, point) : 0;
    point->blocks = mode->once ? 1 : point->blocks;
    session->visit.blocks = point->blocks;
    if (session->kernel->timeline && point->repetitions == 0) {
        const long most = point->blocks * point->iterations;
        untimed += timeline_watch(task, mode->run, most, &point->activity);
    }
    /* The first block then follows a repetition, as the others do, not a barrier, which ranks leave
     * one after another, nor a broadcast. */
    MPI_CHECK(MPI_Barrier(task->comm));
    repeat(mode, task, warm ? session->options.warmup : 0);
    return untimed + (warm ? session->options.warmup : 0);
}

/* Whatever chose the point, no message may overwrite what lies beyond the buffers. */
static void require_room(const struct session *session, const struct mode *mode)
{
    const struct task *task = &session->task;
    if (!needs_fit(task, mode, &session->room)) {
        fprintf(stderr, "%s: mode %s at %d bytes does not fit the buffers; report this as a bug\n",
                session->kernel->name, mode->name, task->size_bytes);
        MPI_Abort(task->comm, EXIT_NO_ROOM);
    }
}

/* The very first repetitions connect the ranks and say nothing about the point. Returns the
 * repetitions that it ran. */
static long calibrate_again(struct session *session, struct point *point)
{
    const long first = point->repetitions == 0 ? session->options.warmup : 0;
    repeat(point->mode, &session->task, first);
    return first + calibrate(session, point);
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

/* Returns how many blocks ran, late ones included; `visit.blocks` is then how many count. */
static long time_blocks(struct session *session, struct point *point)
{
    enum { TRIES = 20 }; /* of a block, and of the next ones until one starts in time */
    const bool round_time = session->options.round_time;
    struct visit *visit = &session->visit;
    MPI_Comm comm = session->task.comm;
    long ran = 0;
    long in_time = 0;
    long tries = 0;
    if (round_time) {
        start_prepare(comm, &session->start);
    }
    while (in_time < visit->blocks && tries < TRIES) {
        time_block(session, point, visit->values_us + (size_t)in_time * visit->columns);
        ran++;
        tries++;
        if (!round_time || !start_was_late(comm, &session->start)) {
            in_time++;
            tries = 0;
        }
    }
    visit->blocks = in_time;
    point->late_blocks += ran - in_time;
    if (session->kernel->timing != TIME_AT_ROOT) {
        const int count = (int)((size_t)in_time * visit->columns);
        MPI_CHECK(MPI_Reduce(session->task.rank == 0 ? MPI_IN_PLACE : visit->values_us,
                             visit->values_us, count, MPI_DOUBLE, MPI_MAX, 0, comm));
    }
    return ran;
}

static void time_block(struct session *session, struct point *point, double *values_us)
{
    struct task *task = &session->task;
    const struct options *options = &session->options;
    const size_t columns = session->visit.columns;
    const double messages = messages_of(point->mode, task) * (double)point->iterations;
    task->phase_us = values_us + 1;
    memset(values_us, 0, columns * sizeof *values_us);
    idle(task, options->pause_us);
    if (session->kernel->timing != TIME_AT_ROOT && !options->round_time) {
        MPI_CHECK(MPI_Barrier(task->comm));
    }

    session->readings.count = 0;
    const double start_us =
        options->round_time ? start_together(task->comm, &session->start) : clock_us();
    point->mode->run(task, point->iterations);
    const double time_us = clock_us() - start_us;
    const bool counts = task->rank == 0 || !point->mode->at_root;
    values_us[0] = counts ? without_readings(time_us, session) : 0;
    task->turn += point->iterations;
    point->blocks_us += values_us[0];

    for (size_t i = 0; i < columns; i++) {
        values_us[i] /= messages;
    }
}

/* Between the first reading and the last one, the latter and all of the kernel's took their time. A
 * block still lasts as long as each of its phases, and longer than nothing. */
static double without_readings(double time_us, const struct session *session)
{
    const struct readings *readings = &session->readings;
    double least_us = 0.001;
    for (size_t phase = 0; phase + 1 < session->visit.columns; phase++) {
        least_us = fmax(least_us, session->task.phase_us[phase]);
    }
    return fmax(time_us - (double)(readings->count + 1) * readings->each_us, least_us);
}

/* Sleeps, since a rank that spins would use up its time slice before the block; then waits for all
 * ranks. */
static void idle(const struct task *task, long pause_us)
{
    if (pause_us > 0) {
        const struct timespec pause = {pause_us / 1000000, pause_us % 1000000 * 1000};
        nanosleep(&pause, NULL);
        MPI_CHECK(MPI_Barrier(task->comm));
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
 * or from this rank where a mode counts what it sends: summed over all ranks both are the same. */
static int64_t account(const struct task *task, struct point *point, int64_t repetitions)
{
    point->repetitions += repetitions;
    if (point->mode->result == NULL) {
        return repetitions * bytes_per_iteration(point->mode, task);
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
