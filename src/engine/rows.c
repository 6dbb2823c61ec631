/* The record's samples: column names and one row per sample. */
#include "rows.h"

#include "columns.h"
#include "samples.h"

static void write_name(void *out, const char *name)
{
    fprintf(out, "%s%s", name == COLUMNS[0] ? "" : ",", name);
}

void column_names_write(FILE *out, const struct kernel *kernel)
{
    each_column(kernel, write_name, out);
    fputc('\n', out);
}

static void write_row(FILE *out, const struct point *point, int pass, long sample,
                      const struct visit *visit)
{
    const double *values_us = visit->values_us + (size_t)sample * visit->columns;

    fprintf(out, "%s,%lld,%d,%ld,%ld", point->mode->name, (long long)point->size_bytes, pass,
            sample, visit->iterations[sample]);
    for (size_t i = 0; i < visit->columns; i++) {
        fprintf(out, ",%.6f", values_us[i]);
    }
    fputc('\n', out);
}

static double median_us(const struct visit *visit)
{
    struct samples times;
    samples_start(&times, visit->blocks, visit->blocks, 0);
    for (long block = 0; block < visit->blocks; block++) {
        samples_add(&times, visit->values_us[(size_t)block * visit->columns]);
    }
    samples_sort(&times);
    const double median = samples_quantile_us(&times, 0.5);
    samples_free(&times);
    return median;
}

void rows_add(struct session *session, struct point *point, int pass)
{
    const struct visit *visit = &session->visit;
    FILE *out = session->record.file;
    if (session->task.rank > 0 || visit->blocks == 0) {
        return;
    }
    samples_add(&point->passes, median_us(visit));
    samples_sort(&point->passes);
    const double *values_us = visit->values_us;
    for (long block = 0; block < visit->blocks; block++, values_us += visit->columns) {
        const bool kept = samples_add(&point->samples, values_us[0]);
        for (int i = 0; has_rank_columns(session->kernel) && i < RANK_COLUMN_COUNT; i++) {
            samples_add(&point->ranks[i], values_us[RANK_MIN + i]);
        }
        if (kept && out != NULL) {
            write_row(out, point, pass, block, visit);
        }
    }
    record_keep_up(&session->record);
}
