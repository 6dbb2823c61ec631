/* How many repetitions fill a block, and how many blocks fit a pass. */
#include "calibration.h"

#include <math.h>

#include "agreement.h"
#include "at_root.h"
#include "block.h"
#include "clock.h"

static long try_block(struct session *session, struct point *point);
static long longer_block(const struct options *options, long iterations, double block_us);
static long blocks_that_fit(const struct options *options, double block_us);

void repeat(const struct mode *mode, struct task *task, long iterations)
{
    mode->run(task, iterations);
    sleep_until_root_ends(mode, task);
    task->turn += iterations;
}

static bool is_slow(const struct options *options, const struct point *point, double repetition_us)
{
    static const double SLOW_US = 20e3;
    return point->iterations == 1 && repetition_us >= SLOW_US &&
           repetition_us >= (double)options->block_time_us;
}

/* The fastest sample decides: a slow moment during calibration says nothing about the point. */
bool known_slow(const struct session *session, struct point *point)
{
    const double fastest_us = point->samples.min_us * messages_of(point->mode, &session->task);
    point->slow = root_says(session->task.comm, point->samples.count > 0 &&
                                                    is_slow(&session->options, point, fastest_us));
    return point->slow;
}

void agree_on_start(struct session *session)
{
    if (session->options.start == START_AGREED) {
        start_prepare(session->task.comm, session->task.kernels, &session->start);
    }
}

/* Starts from what the last pass found and only grows, so that a slow moment cannot leave short
 * blocks behind. */
long calibrate(struct session *session, struct point *point, double earlier_us)
{
#ifdef SWITCHPOINT_SIMULATED
    /* A simulated repetition takes as long as any other: a block of one needs no trial. */
    if (session->options.block_time_us == 0 && session->options.samples == 1) {
        point->blocks = 1;
        return 0;
    }
#endif
    long spent = 0;
    long next = point->iterations;
    double block_us = 0;
    while (next > 0) {
        point->iterations = next;
        agree_on_start(session);
        const double start_us = clock_us();
        spent += try_block(session, point);
        block_us = clock_us() - start_us;
        next = root_number(session->task.comm,
                           longer_block(&session->options, point->iterations, block_us));
    }
    point->block_us = block_us + (double)session->options.pause_us;
    point->blocks = root_number(session->task.comm, blocks_that_fit(&session->options, block_us));
    const double fastest_us = fmin(block_us, earlier_us);
    point->slow = root_says(session->task.comm, is_slow(&session->options, point, fastest_us));
    return spent;
}

/* Runs what a block will run, with the starts of its calls: they take time too. Returns the
 * repetitions. */
static long try_block(struct session *session, struct point *point)
{
    if (session->kernel->timing == TIME_OF_SLOWEST_ALONE) {
        long counted = 0;
        return block_time(session, point, session->visit.values_us, &counted);
    }
    repeat(point->mode, &session->task, point->iterations);
    return point->iterations;
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
