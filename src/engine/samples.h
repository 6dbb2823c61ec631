/* One point's samples: statistics over all of them, and which of them the record keeps. */
#ifndef SWITCHPOINT_SAMPLES_H
#define SWITCHPOINT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds the memory of a point: 128 KiB. The median of so many random samples is, with 95 %
 * probability, between the quantiles 0.492 and 0.508 of all. */
enum { SAMPLES_HELD_MAX = 16384 };

struct samples {
    long stride; /* one of each `stride` samples is kept */
    long next;   /* which one of the current `stride` samples */
    uint64_t random;
    size_t kept;
    double *held_us; /* of all samples, or of SAMPLES_HELD_MAX random ones of them */
    size_t held;
    /* Over all samples, by Welford's recurrence (Technometrics 4, 1962). */
    long count;
    double mean_us;
    double squares_us2; /* sum of squared distances from the mean */
    double min_us;
    double max_us;
};

/* For at most `planned` samples, of which at most `kept_max` are kept: the first, and later one of
 * each `stride`, drawn from the seed. One at a fixed place would always be the same of each pass.
 */
void samples_start(struct samples *samples, long planned, long kept_max, uint64_t seed);

/* Adds one sample; true when the record keeps it. */
bool samples_add(struct samples *samples, double time_us);

/* Unbiased variance in us^2; NaN for fewer than two samples. */
double samples_variance_us2(const struct samples *samples);

/* Sorts the samples that are held, for samples_quantile_us. */
void samples_sort(struct samples *samples);

/* Quantile (0 to 1) of the sorted samples held, interpolated linearly; NaN without samples. */
double samples_quantile_us(const struct samples *samples, double probability);

/* The distribution-free 95 % confidence interval of the median, from order statistics of the sorted
 * samples (Hoefler and Belli 2015, 3.1.3): the narrowest pair, equally far from both ends,
 * that encloses the median with a probability of 95 % or more by the binomial distribution. False
 * for fewer than six samples: even their extremes do not enclose the median that often. */
bool samples_median_interval_us(const struct samples *samples, double *low_us, double *high_us);

void samples_free(struct samples *samples);

#endif
