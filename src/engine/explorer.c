/* Runs a kernel that chooses its own points, in place of the sweep. */
#include "explorer.h"

#include "contents.h"

/* What a visit of the kernel's choice needs. */
struct exploration {
    const struct kernel *kernel;
    struct options options;
    struct task *task;
    struct plan *plan;
    struct visit *visit;
    struct record *record;
    int64_t bytes_moved;
};

int64_t explore_all(const struct kernel *kernel, const struct options *options, struct task *task,
                    struct plan *plan, struct visit *visit, struct record *record)
{
    struct exploration exploration = {
        .kernel = kernel,
        .options = *options,
        .task = task,
        .plan = plan,
        .visit = visit,
        .record = record,
    };
    struct explorer explorer = {
        .task = task,
        .modes = options->modes,
        .mode_count = options->mode_count,
        .smallest_bytes = options->sizes.bytes[0],
        .largest_bytes = options->sizes.bytes[options->sizes.count - 1],
        .pause_us = options->pause_us,
        .warmup = options->warmup,
        .exploration = &exploration,
    };
    plan->count = 0; /* they told what room is needed */
    kernel->explore(&explorer, kernel->settings);
    return exploration.bytes_moved;
}

struct blocks explore(struct explorer *explorer, const struct mode *mode, int size_bytes)
{
    struct exploration *e = explorer->exploration;
    struct point *point = plan_point(e->plan, mode, size_bytes, &e->options);
    const int pass = point->visits++;
    e->options.pause_us = explorer->pause_us;
    e->options.warmup = explorer->warmup;
    if (explorer->iterations > 0) {
        point->iterations = explorer->iterations;
        point->blocks = e->options.samples;
        point->settled = true;
    }
    e->bytes_moved += measure(e->kernel, &e->options, e->task, point, pass, e->visit);
    point->settled = true;
    if (e->task->rank == 0) {
        visit_write(e->record->file, point, pass, e->visit);
    }
    const struct blocks blocks = {
        .count = e->visit->blocks,
        .columns = e->visit->columns,
        .values_us = e->visit->values_us,
        .iterations = point->iterations,
        .first = pass == 0,
    };
    MPI_CHECK(MPI_Bcast(e->visit->values_us, (int)((size_t)blocks.count * blocks.columns),
                        MPI_DOUBLE, 0, e->task->comm));
    return blocks;
}
