/* The columns of the record's samples. */
#ifndef SWITCHPOINT_COLUMNS_H
#define SWITCHPOINT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

struct kernel;

/* The columns of every kernel, of which the last is `time_us`; NULL at the end. */
extern const char *const COLUMNS[];

/* Then come the fastest, the mean and the slowest rank, unless the kernel is timed by rank 0 alone;
 * NULL at the end. Their places in a row of a visit's values, in which `time_us` is the first: */
extern const char *const RANK_COLUMNS[];
enum { RANK_MIN = 1, RANK_MEAN, RANK_MAX, RANK_COLUMN_COUNT = RANK_MAX };
bool has_rank_columns(const struct kernel *kernel);

/* The place of the kernel's first phase in a row of a visit's values, and the length of the row. */
size_t first_phase_column(const struct kernel *kernel);
size_t column_count(const struct kernel *kernel);

/* Calls `use` with the name of each column in order: those above, then the kernel's phases. */
void each_column(const struct kernel *kernel, void (*use)(void *to, const char *name), void *to);

#endif
