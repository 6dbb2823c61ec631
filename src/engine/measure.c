/* One visit to one point: warm up, calibrate, poison, time the blocks, verify. */
#include "measure.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "mpi_check.h"
#include "payload.h"

static void make_copies(struct task *task, const struct mode *mode, size_t rotated_bytes);
static size_t sending_bytes(const struct mode *mode, const struct task *task);
static size_t receiving_bytes(const struct mode *mode, const struct task *task);
static void repeat(const struct mode *mode, struct task *task, long iterations);
static bool known_slow(const struct options *options, const struct task *task,
                       const struct point *point);
static long calibrate(const struct kernel *kernel, const struct options *options, struct task *task,
                      struct point *point);
static long longer_block(const struct options *options, long iterations, double block_us);
static long blocks_that_fit(const struct options *options, double block_us);
static long time_blocks(const struct kernel *kernel, const struct options *options,
                        struct task *task, struct point *point, struct visit *visit);
static void time_block(const struct kernel *kernel, const struct options *options,
                       struct task *task, const struct point *point, struct start *start,
                       double *values_us, size_t columns);
static void fill(const struct mode *mode, const struct task *task, int pass);
static void poison(const struct mode *mode, const struct task *task, int pass);
static void verify(const struct task *task, struct point *point, int pass);

void task_turn_to(struct task *task, const struct options *options, const struct point *point)
{
    const long fitting =
        options->window_kib * 1024 / (point->size_bytes > 0 ? point->size_bytes : 1);
    const long bounded = fitting < options->window ? fitting : options->window;
    task->size_bytes = point->size_bytes;
    task->window = (int)(bounded > 1 ? bounded : 1);
    make_copies(task, point->mode, (size_t)options->rotate_mib << 20);
}

/* A copy starts on a page of its own, which no prefetcher enters before its turn; all copies
 * together then compete for a cache as if they filled `rotated_bytes`, whatever the message size.
 */
static void make_copies(struct task *task, const struct mode *mode, size_t rotated_bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t sending = sending_bytes(mode, task);
    const size_t receiving = receiving_bytes(mode, task);
    const size_t largest = sending > receiving ? sending : receiving;
    task->turn = 0;
    task->copies = 1;
    task->copy_bytes = (largest / page + 1) * page;
    while (task->copies * task->copy_bytes < rotated_bytes) {
        task->copies *= 2;
    }
}

/* The task with one copy of the buffers. */
static struct task with_copy(const struct task *task, size_t copy)
{
    struct task turned = *task;
    turned.send += copy * task->copy_bytes;
    turned.receive += copy * task->copy_bytes;
    return turned;
}

size_t send_bytes_needed(const struct mode *mode, const struct task *task)
{
    return (task->copies - 1) * task->copy_bytes + sending_bytes(mode, task);
}

size_t receive_bytes_needed(const struct mode *mode, const struct task *task)
{
    return (task->copies - 1) * task->copy_bytes + receiving_bytes(mode, task);
}

static size_t sending_bytes(const struct mode *mode, const struct task *task)
{
    return mode->send_bytes != NULL ? mode->send_bytes(task) : (size_t)task->size_bytes;
}

static size_t receiving_bytes(const struct mode *mode, const struct task *task)
{
    if (mode->result != NULL) {
        return mode->result->bytes(task);
    }
    size_t needed = 0;
    struct arrival arrival;
    for (int i = 0; mode->arrival(task, i, &arrival); i++) {
        const size_t end = arrival.offset + arrival.bytes;
        needed = end > needed ? end : needed;
    }
    return needed;
}

size_t requests_needed(const struct mode *mode, const struct task *task)
{
    return mode->requests != NULL ? mode->requests(task) : (size_t)task->window;
}

static double messages_of(const struct mode *mode, const struct task *task)
{
    return mode->messages != NULL ? (double)mode->messages(task) : 1;
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

/* Takes into the point's account what this visit moved. Returns the bytes that it moved to this
 * rank, or, where a mode counts what it sends, from it: over all ranks that is the same. */
static int64_t account(const struct task *task, struct point *point, int64_t repetitions)
{
    point->repetitions += repetitions;
    if (point->mode->result == NULL) {
        return repetitions * bytes_per_iteration(point->mode, task);
    }
    int64_t bytes = 0;
    for (int to = 0; to < task->ranks; to++) {
        bytes += task->sent[to].bytes;
        add_traffic(&point->counts.sent, &task->sent[to]);
        if (task->nodes[to] != task->nodes[task->rank]) {
            add_traffic(&point->counts.sent_between_nodes, &task->sent[to]);
        }
    }
    return bytes;
}

int64_t measure(const struct kernel *kernel, const struct options *options, struct task *task,
                struct point *point, int pass, struct visit *visit)
{
    const struct mode *mode = point->mode;
    task_turn_to(task, options, point);
    task->phase_us = visit->values_us + 1; /* what untimed repetitions add is overwritten */
    memset(task->sent, 0, (size_t)task->ranks * sizeof *task->sent);
    for (size_t copy = 0; copy < task->copies; copy++) {
        const struct task turned = with_copy(task, copy);
        fill(mode, &turned, pass);
    }

    if (mode->prepare != NULL) {
        mode->prepare(task);
    }
    long untimed = 0;
    if (mode->once) {
        point->blocks = 1;
    } else if (!known_slow(options, task, point)) {
        repeat(mode, task, options->warmup);
        untimed = options->warmup + (point->settled ? 0 : calibrate(kernel, options, task, point));
    }
    visit->blocks = point->blocks;
    if (kernel->timeline && point->repetitions == 0) {
        untimed +=
            timeline_watch(task, mode->run, point->blocks * point->iterations, &point->activity);
    }

    /* Poisoned after the last untimed transfer, so that only timed ones can mend it. Then it is the
     * first copy's turn, which has been out of reach for longest. */
    for (size_t copy = 0; copy < task->copies; copy++) {
        const struct task turned = with_copy(task, copy);
        poison(mode, &turned, pass);
    }
    task->turn = 0;
    MPI_CHECK(MPI_Barrier(task->comm));
    const long blocks = time_blocks(kernel, options, task, point, visit);
    if (mode->release != NULL) {
        mode->release(task);
    }
    const size_t repetitions = (size_t)(visit->blocks * point->iterations);
    for (size_t copy = 0; copy < task->copies && copy < repetitions; copy++) {
        const struct task turned = with_copy(task, copy);
        verify(&turned, point, pass);
    }

    return account(task, point, untimed + blocks * point->iterations);
}

static void repeat(const struct mode *mode, struct task *task, long iterations)
{
    mode->run(task, iterations);
    task->turn += iterations;
}

/* Collective. One repetition has never taken less than its share of a pass: warming up and
 * calibrating again would take most of the sweep's time and change nothing. Judged by the fastest
 * sample, since a slow moment during calibration says nothing about the point. */
static bool known_slow(const struct options *options, const struct task *task,
                       const struct point *point)
{
    int slow = 0;
    if (task->rank == 0 && point->iterations == 1 && point->samples.count > 0) {
        const double fastest_us = point->samples.min_us * messages_of(point->mode, task);
        slow = fastest_us >= (double)options->pass_time_ms * 1e3 / (double)options->samples &&
               fastest_us >= (double)options->block_time_us;
    }
    MPI_CHECK(MPI_Bcast(&slow, 1, MPI_INT, 0, task->comm));
    return slow != 0;
}

/* Finds how many iterations fill a block and how many blocks fit the pass. Starts from what the
 * last pass found and only grows, so that a slow moment cannot leave short blocks behind. Returns
 * the iterations spent. */
static long calibrate(const struct kernel *kernel, const struct options *options, struct task *task,
                      struct point *point)
{
    long spent = 0;
    long next = point->iterations;
    double block_us = 0;
    while (next > 0) {
        point->iterations = next;
        const double start = clock_us();
        repeat(point->mode, task, point->iterations);
        block_us = clock_us() - start;
        spent += point->iterations;
        next = kernel->timing == TIME_OF_SLOWEST_ALONE
                   ? 0
                   : longer_block(options, point->iterations, block_us);
        MPI_CHECK(MPI_Bcast(&next, 1, MPI_LONG, 0, task->comm));
    }
    point->blocks = blocks_that_fit(options, block_us);
    MPI_CHECK(MPI_Bcast(&point->blocks, 1, MPI_LONG, 0, task->comm));
    return spent;
}

/* How many iterations to try next, or 0 when a block is long enough. */
static long longer_block(const struct options *options, long iterations, double block_us)
{
    static const long ITERATIONS_MAX = 1L << 30;
    static const double GROWTH_MAX = 16; /* in one step: short measurements mislead */
    static const double MARGIN = 1.2;    /* over the least block time, so that most reach it */

    const double target_us = (double)options->block_time_us;
    if (block_us >= target_us || iterations == ITERATIONS_MAX) {
        return 0;
    }
    const double growth =
        block_us > 0 ? fmin(MARGIN * target_us / block_us, GROWTH_MAX) : GROWTH_MAX;
    return (long)fmin((double)iterations * growth + 1, (double)ITERATIONS_MAX);
}

static long blocks_that_fit(const struct options *options, double block_us)
{
    const double pass_us = (double)options->pass_time_ms * 1e3;
    const double fitting = block_us > 0 ? floor(pass_us / block_us) : (double)options->samples;
    return (long)fmax(1, fmin(fitting, (double)options->samples));
}

/* Returns how many blocks ran, late ones included; `visit->blocks` is then how many count. */
static long time_blocks(const struct kernel *kernel, const struct options *options,
                        struct task *task, struct point *point, struct visit *visit)
{
    enum { TRIES = 20 }; /* of a block, and of the next ones until one is in time */
    long ran = 0;
    long in_time = 0;
    long tries = 0;
    if (options->round_time) {
        start_prepare(task->comm, &visit->start);
    }
    while (in_time < visit->blocks && tries < TRIES) {
        time_block(kernel, options, task, point, &visit->start,
                   visit->values_us + (size_t)in_time * visit->columns, visit->columns);
        ran++;
        tries++;
        if (!options->round_time || !start_was_late(task->comm, &visit->start)) {
            in_time++;
            tries = 0;
        }
    }
    visit->blocks = in_time;
    point->late_blocks += ran - in_time;
    if (kernel->timing != TIME_AT_ROOT) {
        const int count = (int)((size_t)in_time * visit->columns);
        MPI_CHECK(MPI_Reduce(task->rank == 0 ? MPI_IN_PLACE : visit->values_us, visit->values_us,
                             count, MPI_DOUBLE, MPI_MAX, 0, task->comm));
    }
    return ran;
}

/* Asleep, for a rank that spins uses up its turn on the core before the block; then all start. */
static void idle(const struct task *task, long pause_us)
{
    if (pause_us > 0) {
        const struct timespec pause = {pause_us / 1000000, pause_us % 1000000 * 1000};
        nanosleep(&pause, NULL);
        MPI_CHECK(MPI_Barrier(task->comm));
    }
}

static void time_block(const struct kernel *kernel, const struct options *options,
                       struct task *task, const struct point *point, struct start *start,
                       double *values_us, size_t columns)
{
    const double messages = messages_of(point->mode, task) * (double)point->iterations;
    task->phase_us = values_us + 1;
    memset(values_us, 0, columns * sizeof *values_us);
    idle(task, options->pause_us);
    if (kernel->timing != TIME_AT_ROOT && !options->round_time) {
        MPI_CHECK(MPI_Barrier(task->comm));
    }

    const double start_us = options->round_time ? start_together(task->comm, start) : clock_us();
    point->mode->run(task, point->iterations);
    values_us[0] = task->rank > 0 && point->mode->at_root ? 0 : clock_us() - start_us;
    task->turn += point->iterations;

    for (size_t i = 0; i < columns; i++) {
        values_us[i] /= messages;
    }
}

/* One key for all ranks, so that each can know what the others started from. */
static uint64_t input_key(const struct task *task, int pass)
{
    return payload_key(0, task->size_bytes, pass);
}

static void fill(const struct mode *mode, const struct task *task, int pass)
{
    if (mode->result != NULL) {
        mode->result->fill(task, input_key(task, pass));
    } else {
        payload_fill(task->send, sending_bytes(mode, task),
                     payload_key(task->rank, task->size_bytes, pass));
    }
}

static void poison(const struct mode *mode, const struct task *task, int pass)
{
    if (mode->result != NULL) {
        memset(task->receive, 0xFF, mode->result->bytes(task));
        return;
    }
    struct arrival arrival;
    for (int i = 0; mode->arrival(task, i, &arrival); i++) {
        payload_poison(task->receive + arrival.offset, arrival.bytes,
                       payload_key(arrival.sender, task->size_bytes, pass), arrival.sent_offset);
    }
}

static void verify(const struct task *task, struct point *point, int pass)
{
    if (point->mode->result != NULL) {
        const struct verdict verdict = point->mode->result->check(task, input_key(task, pass));
        point->counts.payloads += verdict.compared;
        point->counts.payload_errors += verdict.wrong;
        return;
    }
    struct arrival arrival;
    for (int i = 0; point->mode->arrival(task, i, &arrival); i++) {
        if (arrival.bytes == 0) {
            continue; /* nothing to compare */
        }
        const uint64_t key = payload_key(arrival.sender, task->size_bytes, pass);
        point->counts.payloads++;
        point->counts.payload_errors +=
            payload_differences(task->receive + arrival.offset, arrival.bytes, key,
                                arrival.sent_offset) > 0;
    }
}
