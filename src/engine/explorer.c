/* Runs a kernel that chooses its own points, in place of the sweep. */
#include "explorer.h"

#include "agreement.h"
#include "budget.h"
#include "exploration.h"
#include "measure.h"
#include "rows.h"
#include "zooming.h"

static struct explorer explorer_of(struct session *session)
{
    const struct options *options = &session->options;
    return (struct explorer){
        .task = &session->task,
        .modes = options->modes,
        .mode_count = options->mode_count,
        .smallest_bytes = options->sizes.bytes[0],
        .largest_bytes = options->sizes.bytes[options->sizes.count - 1],
        .brackets = &options->brackets,
        .findings = &session->findings,
        .search_time_ms = options->search_time_ms,
        .pause_us = options->pause_us,
        .warmup = options->warmup,
        .session = session,
    };
}

bool exploration_suits(struct session *session, struct refusal *refusal)
{
    const struct explorer explorer = explorer_of(session);
    return zoom_suits(&explorer, refusal);
}

bool explore_all(struct session *session)
{
    struct explorer explorer = explorer_of(session);
    session->plan.count = 0; /* the sizes asked for have said which buffers are needed */
    if (session->kernel->explore != NULL) {
        session->kernel->explore(&explorer);
    } else {
        zoom_all(&explorer);
    }
    return root_says(session->task.comm, record_flush(&session->record));
}

bool explorer_is_out_of_time(const struct explorer *explorer)
{
    return budget_is_spent(explorer->session, 0);
}

long explorer_budget_s(const struct explorer *explorer)
{
    return explorer->session->options.time_budget_s;
}

struct blocks explore(struct explorer *explorer, const struct mode *mode, int64_t size_bytes)
{
    struct session *session = explorer->session;
    struct options *options = &session->options;
    struct point *point = plan_point(&session->plan, mode, size_bytes, options);
    const int pass = point->visits++;
    options->pause_us = explorer->pause_us;
    options->warmup = explorer->warmup;
    if (explorer->iterations > 0) {
        point->iterations = explorer->iterations;
        point->blocks = options->samples;
        point->settled = true;
    }
    measure(session, point, pass);
    point->settled = true;
    rows_add(session, point, pass);

    const struct visit *visit = &session->visit;
    const struct blocks blocks = {
        .count = visit->blocks,
        .columns = visit->columns,
        .values_us = visit->values_us,
        .iterations = point->iterations,
        .first = pass == 0,
    };
    MPI_CHECK(MPI_Bcast(visit->values_us, (int)((size_t)blocks.count * blocks.columns), MPI_DOUBLE,
                        0, session->task.comm));
    return blocks;
}
