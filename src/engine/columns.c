/* The columns of the record's samples. */
#include "columns.h"

#include "kernel.h"

const char *const COLUMNS[] = {"mode",       "size_bytes", "pass", "sample",
                               "iterations", "time_us",    NULL};
const char *const RANK_COLUMNS[] = {"rank_min_us", "rank_mean_us", "rank_max_us", NULL};

bool has_rank_columns(const struct kernel *kernel)
{
    return kernel->timing != TIME_AT_ROOT;
}

size_t first_phase_column(const struct kernel *kernel)
{
    return 1 + (has_rank_columns(kernel) ? RANK_COLUMN_COUNT : 0);
}

size_t column_count(const struct kernel *kernel)
{
    size_t count = first_phase_column(kernel);
    for (const char *const *phase = kernel->phases; phase != NULL && *phase != NULL; phase++) {
        count++;
    }
    return count;
}

void each_column(const struct kernel *kernel, void (*use)(void *to, const char *name), void *to)
{
    const char *const *const lists[] = {COLUMNS, has_rank_columns(kernel) ? RANK_COLUMNS : NULL,
                                        kernel->phases};
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++) {
        for (const char *const *name = lists[list]; name != NULL && *name != NULL; name++) {
            use(to, *name);
        }
    }
}
