/* One point's samples: statistics over all of them, and which of them the record keeps. */
#include "samples.h"

#include <math.h>
#include <stdlib.h>

#include "memory.h"
#include "order.h"
#include "random.h"

static bool is_kept(struct samples *samples);
static void hold(struct samples *samples, double time_us);

void samples_start(struct samples *samples, long planned, long kept_max, uint64_t seed)
{
    *samples = (struct samples){
        .stride = (planned + kept_max - 1) / kept_max,
        .random = seed,
        .min_us = INFINITY,
        .max_us = -INFINITY,
    };
}

bool samples_add(struct samples *samples, double time_us)
{
    const bool keep = is_kept(samples);
    samples->kept += keep;
    hold(samples, time_us);
    samples->count++;
    const double distance = time_us - samples->mean_us;
    samples->mean_us += distance / (double)samples->count;
    samples->squares_us2 += distance * (time_us - samples->mean_us);
    samples->min_us = fmin(samples->min_us, time_us);
    samples->max_us = fmax(samples->max_us, time_us);
    return keep;
}

/* The first `stride` samples keep their first, so that a sweep which ends early has one at least.
 */
static bool is_kept(struct samples *samples)
{
    const long place = samples->count % samples->stride;
    if (place == 0) {
        samples->next = samples->count == 0
                            ? 0
                            : (long)random_below(&samples->random, (uint64_t)samples->stride);
    }
    return place == samples->next;
}

/* Once SAMPLES_HELD_MAX are held, each new sample takes the place of one of them with the
 * probability that makes all samples so far equally likely to be held (algorithm R; Vitter, ACM
 * Transactions on Mathematical Software 11, 1985). */
static void hold(struct samples *samples, double time_us)
{
    if (samples->held == SAMPLES_HELD_MAX) {
        const uint64_t place = random_below(&samples->random, (uint64_t)samples->count + 1);
        if (place < SAMPLES_HELD_MAX) {
            samples->held_us[place] = time_us;
        }
        return;
    }
    if ((samples->held & (samples->held - 1)) == 0) {
        const size_t capacity = samples->held > 0 ? 2 * samples->held : 1;
        samples->held_us = reallocate(samples->held_us, capacity * sizeof *samples->held_us);
    }
    samples->held_us[samples->held++] = time_us;
}

double samples_variance_us2(const struct samples *samples)
{
    return samples->count > 1 ? samples->squares_us2 / (double)(samples->count - 1) : NAN;
}

void samples_sort(struct samples *samples)
{
    sort_doubles(samples->held_us, samples->held);
}

double samples_quantile_us(const struct samples *samples, double probability)
{
    if (samples->held == 0) {
        return NAN;
    }
    const double position = probability * (double)(samples->held - 1);
    const size_t below = (size_t)position;
    const size_t above = below + 1 < samples->held ? below + 1 : below;
    const double share = position - (double)below;
    return samples->held_us[below] * (1 - share) + samples->held_us[above] * share;
}

/* How many of `count` values to leave out at each end; negative when there are too few values. */
static long left_out(size_t count)
{
    static const double ERROR = 0.05;
    const double n = (double)count;
    double outside = 0; /* probability that the median is beyond the k-th value from an end */
    long k = 0;
    while (k < (long)count) {
        const double exactly =
            exp(lgamma(n + 1) - lgamma((double)k + 1) - lgamma(n - (double)k + 1) - n * log(2));
        if (2 * (outside + exactly) > ERROR) {
            break;
        }
        outside += exactly;
        k++;
    }
    return k - 1;
}

bool samples_median_interval_us(const struct samples *samples, double *low_us, double *high_us)
{
    const long out = left_out(samples->held);
    if (out < 0) {
        return false;
    }
    *low_us = samples->held_us[out];
    *high_us = samples->held_us[samples->held - 1 - (size_t)out];
    return true;
}

void samples_free(struct samples *samples)
{
    free(samples->held_us);
    samples->held_us = NULL;
}
