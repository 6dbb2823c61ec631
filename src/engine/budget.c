/* The time that a run may take. */
#include "budget.h"

#include <math.h>

#include "agreement.h"
#include "clock.h"

static double left_us(const struct session *session);

void budget_start(struct session *session)
{
    session->begun_us = clock_us();
}

bool budget_is_spent(struct session *session, double expected_us)
{
    const bool limited = session->options.time_budget_s > 0;
    if (limited && root_says(session->task.comm, left_us(session) < expected_us)) {
        session->shortened = true;
    }
    return session->shortened;
}

long budget_fits(struct session *session, long count, double each_us)
{
    if (session->options.time_budget_s == 0) {
        return count;
    }
    const double fitting = each_us > 0 ? floor(left_us(session) / each_us) : (double)count;
    const long fits = root_number(session->task.comm, (long)fmax(1, fmin(fitting, (double)count)));
    session->shortened = session->shortened || fits < count;
    return fits;
}

static double left_us(const struct session *session)
{
    const double budget_us = (double)session->options.time_budget_s * 1e6;
    return budget_us - (clock_us() - session->begun_us);
}
