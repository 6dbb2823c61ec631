/* The time that a run may take. */
#include "budget.h"

#include "agreement.h"
#include "clock.h"

void budget_start(struct session *session)
{
    session->begun_us = clock_us();
}

bool budget_is_spent(struct session *session, double expected_us)
{
    const double budget_us = (double)session->options.time_budget_s * 1e6;
    const double end_us = clock_us() + expected_us;
    if (budget_us > 0 && root_says(session->task.comm, end_us - session->begun_us > budget_us)) {
        session->shortened = true;
    }
    return session->shortened;
}
