/* The record's samples: column names and one row per sample. */
#include "rows.h"

#include "samples.h"

const char *const COLUMNS[] = {"mode",       "size_bytes", "pass", "sample",
                               "iterations", "time_us",    NULL};

void column_names_write(FILE *out, const struct kernel *kernel)
{
    for (const char *const *column = COLUMNS; *column != NULL; column++) {
        fprintf(out, "%s%s", column > COLUMNS ? "," : "", *column);
    }
    for (const char *const *phase = kernel->phases; phase != NULL && *phase != NULL; phase++) {
        fprintf(out, ",%s", *phase);
    }
    fputc('\n', out);
}

static void write_row(FILE *out, const struct point *point, int pass, long sample,
                      const double *values_us, size_t columns)
{
    fprintf(out, "%s,%d,%d,%ld,%ld", point->mode->name, point->size_bytes, pass, sample,
            point->iterations);
    for (size_t i = 0; i < columns; i++) {
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
        if (kept && out != NULL) {
            write_row(out, point, pass, block, values_us, visit->columns);
        }
    }
}
