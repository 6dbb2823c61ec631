/* Starts at an agreed time: all ranks start a call together. */
#include "start.h"

#include <math.h>
#include <time.h>

#include "abort_job.h"
#include "agreement.h"
#include "clock.h"
#include "exit_codes.h"
#include "mpi_check.h"

/* Clocks do not drift evenly for long, and the error of the drift counts more and more. */
static const double COMPARED_FOR_US = 100e3;

/* Where ranks share cores, no lead is certain to be long enough, and a longer one only takes time.
 * Simulated ranks wait for nothing, and a call that one of them starts late is one more to
 * simulate.
 */
#ifdef SWITCHPOINT_SIMULATED
static const double LEAD_MIN_US = 20000;
#else
static const double LEAD_MIN_US = 20;
#endif
static const double LEAD_MAX_US = 20000;
static const double LEAD_PER_DELAY = 1.5;

/* Far more than the longest lead, and what clocks drift apart between two comparisons. */
static const double WAIT_MAX_US = 10e6;

/* A rank whose announcement came too late, or that lost its core while it waited, starts later by
 * more than this. */
static const double LATE_US = 1;

void start_prepare(MPI_Comm comm, const int *kernels, struct start *start)
{
    const bool first = start->compared_us == 0;
    if (root_says(comm, first || clock_us() - start->compared_us > COMPARED_FOR_US)) {
        clock_model_compare(comm, kernels, &start->clock);
        start->compared_us = clock_us();
    }
}

/* Sleeps through most of a long wait: a rank that spins uses up its time slice, and where others
 * want its core it would lose it right after the start. Returns the time after the wait. */
static double wait_until(double moment_us)
{
#ifdef SWITCHPOINT_SIMULATED
    static const double SPIN_US = 0; /* simulated ranks wake up in time */
#else
    static const double SPIN_US = 150; /* more than it takes to wake up */
#endif
    const double idle_us = moment_us - clock_us() - SPIN_US;
    if (idle_us > 0) {
        const struct timespec nap = {.tv_nsec = (long)(idle_us * 1e3)};
        nanosleep(&nap, NULL);
    }
    double now_us = 0;
    do {
        now_us = clock_us();
    } while (now_us < moment_us);
    return now_us;
}

double start_together(MPI_Comm comm, struct start *start)
{
    const double lead_us = fmin(fmax(LEAD_PER_DELAY * start->delay_us, LEAD_MIN_US), LEAD_MAX_US);
    double agreed_us = clock_us() + lead_us;
    MPI_CHECK(MPI_Bcast(&agreed_us, 1, MPI_DOUBLE, 0, comm));
    const double heard_us = clock_us();
    /* On this rank's clock: it is that far ahead at the agreed time, not already now. */
    const double root_agreed_us = agreed_us;
    agreed_us += clock_model_ahead_us(&start->clock, heard_us);
    agreed_us = root_agreed_us + clock_model_ahead_us(&start->clock, agreed_us);
    start->clock_error_us =
        fmax(start->clock_error_us, clock_model_error_us(&start->clock, agreed_us));
    if (!(agreed_us - heard_us < WAIT_MAX_US)) {
        abort_job(
            comm, EXIT_WRONG,
            "switchpoint: the next start is %.3g s away, more than the %.0f s that clocks can "
            "differ by: a message was changed on its way, or a clock was set; measure again",
            (agreed_us - heard_us) / 1e6, WAIT_MAX_US / 1e6);
    }
    start->heard_after_us = heard_us - (agreed_us - lead_us);
    start->late = wait_until(agreed_us) > agreed_us + LATE_US;
    return agreed_us;
}

/* Most announcements take as long as the last ones. One that takes much longer found a rank without
 * its core, which says little about the next. But twice in a row is a reason to hurry. */
static void learn_delay(struct start *start, double delay_us, bool late)
{
    static const double LESS = 0.5; /* of the difference to a shorter delay */
    static const double MORE = 1.1;
    static const double MUCH_MORE = 2;
    if (late && start->was_late) {
        start->delay_us = fmax(MUCH_MORE * start->delay_us, LEAD_MIN_US);
    } else if (delay_us < start->delay_us) {
        start->delay_us += LESS * (delay_us - start->delay_us);
    } else {
        start->delay_us = fmin(delay_us, fmax(MORE * start->delay_us, LEAD_MIN_US));
    }
    start->was_late = late;
}

bool start_was_late(MPI_Comm comm, struct start *start, bool *enough)
{
    enum { LATE, ENOUGH, DELAY_US, COUNT };
    double most[COUNT] = {start->late ? 1 : 0, *enough ? 1 : 0, start->heard_after_us};
    MPI_CHECK(MPI_Allreduce(MPI_IN_PLACE, most, COUNT, MPI_DOUBLE, MPI_MAX, comm));
    const bool late = most[LATE] > 0;
    *enough = most[ENOUGH] > 0;
    learn_delay(start, most[DELAY_US], late);
    return late;
}
