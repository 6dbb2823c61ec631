/* Statistics over all samples and the thinning of those kept. */
#include <math.h>

#include "check.h"
#include "samples.h"

static bool near(double value, double expected)
{
    return fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected));
}

static void statistics_are_exact_over_all_samples(void)
{
    /* 1 to 1000: mean (n + 1) / 2, variance n (n + 1) / 12. */
    struct samples samples;
    samples_start(&samples, 1000, 10, 0);
    for (int i = 1000; i >= 1; i--) {
        samples_add(&samples, i);
    }
    CHECK(samples.count == 1000);
    CHECK(near(samples.mean_us, 500.5));
    CHECK(near(samples_variance_us2(&samples), 1000.0 * 1001 / 12));
    CHECK(near(samples.min_us, 1));
    CHECK(near(samples.max_us, 1000));
    samples_free(&samples);
}

static void variance_survives_a_large_offset(void)
{
    /* A sum of squares would lose all digits here. */
    struct samples samples;
    samples_start(&samples, 3, 3, 0);
    samples_add(&samples, 1e9 + 4);
    samples_add(&samples, 1e9 + 7);
    samples_add(&samples, 1e9 + 13);
    CHECK(near(samples_variance_us2(&samples), 21));
    samples_free(&samples);
}

static void one_sample_has_no_variance(void)
{
    struct samples samples;
    samples_start(&samples, 1, 1, 0);
    samples_add(&samples, 3);
    CHECK(isnan(samples_variance_us2(&samples)));
    CHECK(near(samples.mean_us, 3));
    samples_free(&samples);
}

static void all_are_kept_while_they_fit(void)
{
    struct samples samples;
    samples_start(&samples, 20, 20, 0);
    for (int i = 0; i < 20; i++) {
        CHECK(samples_add(&samples, i));
    }
    CHECK(samples.stride == 1);
    CHECK(samples.kept == 20);
    samples_free(&samples);
}

static void thinning_keeps_one_of_each_stride_at_random(void)
{
    /* 4,000 passes of 5: each place of a pass is kept 800 times; the standard deviation is 25. */
    struct samples samples;
    long kept[5] = {0};
    samples_start(&samples, 20000, 4000, 7);
    CHECK(samples.stride == 5);
    for (int pass = 0; pass < 4000; pass++) {
        int of_pass = 0;
        for (int i = 0; i < 5; i++) {
            const bool keep = samples_add(&samples, i);
            kept[i] += keep;
            of_pass += keep;
        }
        CHECK(of_pass == 1);
    }
    CHECK(samples.kept == 4000);
    for (int i = 0; i < 5; i++) {
        CHECK(kept[i] > 700 && kept[i] < 900);
    }
    samples_free(&samples);
}

static void quantiles_are_those_of_all_samples(void)
{
    struct samples samples;
    samples_start(&samples, 1001, 10, 7);
    for (int i = 1000; i >= 0; i--) {
        samples_add(&samples, i);
    }
    CHECK(samples.kept <= 10);
    samples_sort(&samples);
    CHECK(near(samples_quantile_us(&samples, 0.5), 500));
    CHECK(near(samples_quantile_us(&samples, 0.975), 975));
    samples_free(&samples);
}

static void memory_is_bounded_and_quantiles_stay_those_of_all_samples(void)
{
    /* A rising time: samples that are held by their place would give another median. The standard
     * error of the median of the samples held is 0.4 %. */
    enum { COUNT = 40 * SAMPLES_HELD_MAX };
    struct samples samples;
    samples_start(&samples, COUNT, 10, 7);
    for (int i = 0; i < COUNT; i++) {
        samples_add(&samples, i);
        if (i % (COUNT / 8) == 0) {
            samples_sort(&samples);
        }
    }
    CHECK(samples.count == COUNT);
    CHECK(samples.held == SAMPLES_HELD_MAX);
    samples_sort(&samples);
    CHECK(fabs(samples_quantile_us(&samples, 0.5) / COUNT - 0.5) < 0.02);
    CHECK(fabs(samples_quantile_us(&samples, 0.1) / COUNT - 0.1) < 0.02);
    CHECK(near(samples.mean_us, (COUNT - 1) / 2.0));
    samples_free(&samples);
}

static void a_sweep_that_ends_early_has_kept_a_sample(void)
{
    struct samples samples;
    samples_start(&samples, 1000000, 10, 7);
    CHECK(samples_add(&samples, 1));
    CHECK(!samples_add(&samples, 1));
    samples_free(&samples);
}

static void quantiles_interpolate(void)
{
    struct samples samples;
    samples_start(&samples, 5, 5, 0);
    const double times_us[] = {50, 10, 40, 20, 30};
    for (int i = 0; i < 5; i++) {
        samples_add(&samples, times_us[i]);
    }
    samples_sort(&samples);
    CHECK(near(samples_quantile_us(&samples, 0), 10));
    CHECK(near(samples_quantile_us(&samples, 0.5), 30));
    CHECK(near(samples_quantile_us(&samples, 0.625), 35));
    CHECK(near(samples_quantile_us(&samples, 1), 50));
    samples_free(&samples);
}

static void the_interval_of_the_median_is_that_of_the_binomial_tables(void)
{
    /* Of n values the lower end, counted from 1; as in tables of the sign test at 5 %. */
    static const struct {
        int n;
        int lower;
    } TABLE[] = {{6, 1}, {8, 1}, {9, 2}, {10, 2}, {20, 6}, {50, 18}, {100, 40}, {2000, 956}};
    for (size_t i = 0; i < sizeof TABLE / sizeof TABLE[0]; i++) {
        const int n = TABLE[i].n;
        struct samples samples;
        samples_start(&samples, n, n, 0);
        for (int value = n; value >= 1; value--) {
            samples_add(&samples, value);
        }
        samples_sort(&samples);
        double low_us = 0;
        double high_us = 0;
        CHECK(samples_median_interval_us(&samples, &low_us, &high_us));
        CHECK(near(low_us, TABLE[i].lower));
        CHECK(near(high_us, n + 1 - TABLE[i].lower));
        samples_free(&samples);
    }
}

static void five_samples_say_too_little_about_the_median(void)
{
    struct samples samples;
    samples_start(&samples, 5, 5, 0);
    double low_us = 0;
    double high_us = 0;
    CHECK(!samples_median_interval_us(&samples, &low_us, &high_us));
    for (int i = 0; i < 5; i++) {
        samples_add(&samples, i);
    }
    CHECK(!samples_median_interval_us(&samples, &low_us, &high_us));
    samples_free(&samples);
}

int main(void)
{
    statistics_are_exact_over_all_samples();
    variance_survives_a_large_offset();
    one_sample_has_no_variance();
    all_are_kept_while_they_fit();
    thinning_keeps_one_of_each_stride_at_random();
    quantiles_are_those_of_all_samples();
    memory_is_bounded_and_quantiles_stay_those_of_all_samples();
    a_sweep_that_ends_early_has_kept_a_sample();
    quantiles_interpolate();
    the_interval_of_the_median_is_that_of_the_binomial_tables();
    five_samples_say_too_little_about_the_median();
    return check_result();
}
