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
    samples_start(&samples, 1000, 10);
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
    samples_start(&samples, 3, 3);
    samples_add(&samples, 1e9 + 4);
    samples_add(&samples, 1e9 + 7);
    samples_add(&samples, 1e9 + 13);
    CHECK(near(samples_variance_us2(&samples), 21));
    samples_free(&samples);
}

static void one_sample_has_no_variance(void)
{
    struct samples samples;
    samples_start(&samples, 1, 1);
    samples_add(&samples, 3);
    CHECK(isnan(samples_variance_us2(&samples)));
    CHECK(near(samples.mean_us, 3));
    samples_free(&samples);
}

static void all_are_kept_while_they_fit(void)
{
    struct samples samples;
    samples_start(&samples, 20, 20);
    for (int i = 0; i < 20; i++) {
        CHECK(samples_add(&samples, i));
    }
    CHECK(samples.stride == 1);
    CHECK(samples.kept == 20);
    samples_free(&samples);
}

static void thinning_keeps_every_stride_th_and_stays_bounded(void)
{
    struct samples samples;
    samples_start(&samples, 21, 5);
    CHECK(samples.stride == 5);
    for (int i = 0; i < 21; i++) {
        CHECK(samples_add(&samples, i) == (i % 5 == 0));
    }
    CHECK(samples.kept == 5);
    for (int i = 0; i < 5; i++) {
        CHECK(near(samples.kept_us[i], 5.0 * i));
    }
    CHECK(near(samples.max_us, 20));
    samples_free(&samples);
}

static void quantiles_interpolate(void)
{
    struct samples samples;
    samples_start(&samples, 5, 5);
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
        samples_start(&samples, n, n);
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
    samples_start(&samples, 5, 5);
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
    thinning_keeps_every_stride_th_and_stays_bounded();
    quantiles_interpolate();
    the_interval_of_the_median_is_that_of_the_binomial_tables();
    five_samples_say_too_little_about_the_median();
    return check_result();
}
