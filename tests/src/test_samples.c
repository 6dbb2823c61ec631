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

int main(void)
{
    statistics_are_exact_over_all_samples();
    variance_survives_a_large_offset();
    one_sample_has_no_variance();
    all_are_kept_while_they_fit();
    thinning_keeps_every_stride_th_and_stays_bounded();
    quantiles_interpolate();
    return check_result();
}
