/* The table for people on standard output. */
#include "table.h"

void table_print(FILE *out, const struct plan *plan)
{
    fprintf(out, "%-17s %12s %13s %13s %27s %13s %8s\n", "mode", "size_bytes", "median_us",
            "min_us", "95 % of samples, us", "MB/s", "samples");
    for (size_t i = 0; i < plan->count; i++) {
        const struct point *point = &plan->points[i];
        const struct samples *samples = &point->samples;
        const double median_us = samples_quantile_us(samples, 0.5);
        fprintf(out, "%-17s %12d %13.3f %13.3f %13.3f %13.3f %13.2f %8ld\n", point->mode->name,
                point->size_bytes, median_us, samples->min_us, samples_quantile_us(samples, 0.025),
                samples_quantile_us(samples, 0.975), point->size_bytes / median_us, samples->count);
    }
}
