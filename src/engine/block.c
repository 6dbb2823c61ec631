/* One timed block: its calls, each of which all ranks start together, and the times of the ranks.
 */
#include "block.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "at_root.h"
#include "clock.h"
#include "columns.h"
#include "memory.h"
#include "mpi_check.h"

static double *room_for_calls(struct visit *visit, long calls);
static void idle(const struct task *task, long pause_us);
static long time_call_in_time(struct session *session, const struct mode *mode, long repetitions,
                              double *time_us, bool *enough);
static double time_call(struct session *session, const struct mode *mode, long repetitions);
static double without_readings(double time_us, const struct session *session);
static void add_up_calls(struct session *session, const struct point *point, long calls,
                         long repetitions, double *values_us);

/* Where other programs take the cores, starts are announced earlier and calls are repeated, each of
 * which may then take a thousand times as long as when their number was chosen. */
static const double LONGEST_BLOCK = 10;       /* in block times */
static const double LONGEST_LEAST_US = 200e3; /* room to announce one start ever earlier */

long block_time(struct session *session, struct point *point, double *values_us, long *counted)
{
    const struct task *task = &session->task;
    struct visit *visit = &session->visit;
    const bool alone = session->kernel->timing == TIME_OF_SLOWEST_ALONE;
    const long most_calls = alone ? point->iterations : 1;
    const long repetitions = alone ? 1 : point->iterations;
    const size_t phases = visit->columns - visit->first_phase;
    double *calls_us = room_for_calls(visit, most_calls);
    double *phases_us = values_us + visit->first_phase;
    long repeated = 0;
    long calls = 0;
    bool enough = false;

    memset(values_us, 0, visit->columns * sizeof *values_us);
    idle(task, session->options.pause_us);
    visit->calls_end_us =
        clock_us() + fmax(LONGEST_BLOCK * (double)session->options.block_time_us, LONGEST_LEAST_US);
    while (calls < most_calls && !enough) {
        repeated +=
            time_call_in_time(session, point->mode, repetitions, &calls_us[calls++], &enough);
        for (size_t phase = 0; phase < phases; phase++) {
            phases_us[phase] += visit->call_phases_us[phase];
        }
    }
    *counted = calls * repetitions;
    add_up_calls(session, point, calls, *counted, values_us);
    point->calls += calls + repeated;
    point->late_calls += repeated;
    return (calls + repeated) * repetitions;
}

/* Repeats a call that a rank starts late. Where other processes take the cores, a rank may be late
 * again and again: in the end such a call counts too, with a time that is too long. Returns how
 * many calls did not count. */
static long time_call_in_time(struct session *session, const struct mode *mode, long repetitions,
                              double *time_us, bool *enough)
{
    enum { LATE_MAX = 10 }; /* enough to announce starts 5 ms earlier */
    const bool agreed = session->options.start == START_AGREED;
    for (long late = 0;; late++) {
        *time_us = time_call(session, mode, repetitions);
        if (!agreed) {
            return late;
        }
        *enough = clock_us() > session->visit.calls_end_us;
        if (!start_was_late(session->task.comm, &session->start, enough) || *enough ||
            late == LATE_MAX) {
            return late;
        }
    }
}

/* Keeps what is there already. */
static double *room_for_calls(struct visit *visit, long calls)
{
    if (calls > visit->calls_room) {
        visit->calls_us = reallocate(visit->calls_us, (size_t)calls * sizeof(double));
        visit->ranks_us = reallocate(visit->ranks_us, (size_t)calls * sizeof(double));
        visit->calls_room = calls;
    }
    return visit->calls_us;
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

/* Returns the time on this rank in us; 0 where rank 0 works alone and this is another. */
static double time_call(struct session *session, const struct mode *mode, long repetitions)
{
    struct task *task = &session->task;
    struct visit *visit = &session->visit;
    const enum start_of_calls start = session->options.start;
    task->phase_us = visit->call_phases_us;
    for (size_t phase = 0; phase + visit->first_phase < visit->columns; phase++) {
        task->phase_us[phase] = 0;
    }
    if (start == START_BARRIER) {
        MPI_CHECK(MPI_Barrier(task->comm));
    }
    session->readings.count = 0;
    const double start_us =
        start == START_AGREED ? start_together(task->comm, &session->start) : clock_us();
    mode->run(task, repetitions);
    const double time_us = clock_us() - start_us;
    sleep_until_root_ends(mode, task);
    task->turn += repetitions;
    return task->rank > 0 && mode->at_root ? 0 : without_readings(time_us, session);
}

/* Between the first reading and the last one, the latter and all of the kernel's took their time. A
 * call still lasts as long as each of its phases, and longer than nothing. */
static double without_readings(double time_us, const struct session *session)
{
    const struct readings *readings = &session->readings;
    const struct visit *visit = &session->visit;
    double least_us = 0.001;
    for (size_t phase = 0; phase + visit->first_phase < visit->columns; phase++) {
        least_us = fmax(least_us, visit->call_phases_us[phase]);
    }
    return fmax(time_us - (double)(readings->count + 1) * readings->each_us, least_us);
}

static double mean(const double *values, long count)
{
    double sum = 0;
    for (long i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / (double)count;
}

/* The mean over calls of one number for all ranks: the smallest, the largest or the sum of their
 * times. */
static double over_ranks(const struct session *session, MPI_Op op, long calls)
{
    const struct visit *visit = &session->visit;
    MPI_CHECK(MPI_Reduce(visit->calls_us, visit->ranks_us, (int)calls, MPI_DOUBLE, op, 0,
                         session->task.comm));
    return mean(visit->ranks_us, calls);
}

/* From the times of all calls on all ranks to those of the block, per message, on rank 0. */
static void add_up_calls(struct session *session, const struct point *point, long calls,
                         long repetitions, double *values_us)
{
    const struct task *task = &session->task;
    const struct visit *visit = &session->visit;
    const double messages = messages_of(point->mode, task) * (double)repetitions;
    const double own_us = mean(visit->calls_us, calls);
    values_us[0] = own_us;
    if (has_rank_columns(session->kernel)) {
        const double least_us = over_ranks(session, MPI_MIN, calls);
        const double mean_us = over_ranks(session, MPI_SUM, calls) / task->ranks;
        const double most_us = over_ranks(session, MPI_MAX, calls);
        const bool at_root = point->mode->at_root;
        values_us[RANK_MIN] = at_root ? own_us : least_us;
        values_us[RANK_MEAN] = at_root ? own_us : mean_us;
        values_us[RANK_MAX] = most_us;
        const enum time_of counts = time_of(&session->options, session->kernel, point->mode);
        if (counts != TIME_OF_ROOT) {
            values_us[0] = values_us[counts == TIME_OF_MEAN_RANK ? RANK_MEAN : RANK_MAX];
        }
        double *phases_us = values_us + visit->first_phase;
        const int phases = (int)(visit->columns - visit->first_phase);
        if (phases > 0) { /* SimGrid 3.32 divides by a count of 0 */
            MPI_CHECK(MPI_Reduce(task->rank == 0 ? MPI_IN_PLACE : phases_us, phases_us, phases,
                                 MPI_DOUBLE, MPI_MAX, 0, task->comm));
        }
    }
    for (size_t i = 0; i < visit->first_phase; i++) {
        values_us[i] *= (double)calls / messages;
    }
    for (size_t i = visit->first_phase; i < visit->columns; i++) {
        values_us[i] /= messages;
    }
}
