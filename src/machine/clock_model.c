/* How far this rank's clock is ahead of rank 0's at any moment: a line through comparisons. */
#include "clock_model.h"

#include <math.h>
#include <stdbool.h>
#include <time.h>

#include "mpi_check.h"

/* Comparisons scatter around the line by a tenth of their error: after 100 ms the drift of clocks
 * that are compared within 1 us is known to 2 us in a second. */
enum { FIRST_COMPARISONS = 20 };
static const struct timespec BETWEEN_FIRST = {.tv_nsec = 5000000};

static const double STANDARD_ERRORS = 3;

static bool under_one_system(MPI_Comm comm, const int *kernels);
static void fit(struct clock_model *model);

void clock_model_compare(MPI_Comm comm, const int *kernels, struct clock_model *model)
{
    const bool often = model->count == 0 && !under_one_system(comm, kernels);
    for (long left = often ? FIRST_COMPARISONS : 1; left > 0; left--) {
        model->last = clock_offset_from_root(comm, kernels);
        model->comparisons[model->count++ % COMPARISONS_MAX] = model->last;
        if (left > 1) {
            nanosleep(&BETWEEN_FIRST, NULL);
        }
    }
    if (model->last.error_us > 0) {
        fit(model);
    }
}

static bool under_one_system(MPI_Comm comm, const int *kernels)
{
    int ranks = 0;
    MPI_CHECK(MPI_Comm_size(comm, &ranks));
    int rank = 0;
    while (rank < ranks && kernels[rank] == kernels[0]) {
        rank++;
    }
    return rank == ranks;
}

/* A comparison during which a rank lost its core says little. */
static double weight(const struct clock_offset *comparison)
{
    return 1 / (comparison->error_us * comparison->error_us);
}

/* Weighted least squares. */
static void fit(struct clock_model *model)
{
    const struct clock_offset *all = model->comparisons;
    const long count = model->count < COMPARISONS_MAX ? model->count : COMPARISONS_MAX;
    double weights = 0;
    struct clock_offset middle = {0}; /* from the first one on, since digits are few */
    for (long i = 0; i < count; i++) {
        weights += weight(&all[i]);
        middle.at_us += weight(&all[i]) * (all[i].at_us - all[0].at_us);
        middle.us += weight(&all[i]) * (all[i].us - all[0].us);
        middle.error_us += weight(&all[i]) * all[i].error_us;
    }
    model->middle.at_us = all[0].at_us + middle.at_us / weights;
    model->middle.us = all[0].us + middle.us / weights;
    model->middle.error_us = middle.error_us / weights;

    double square = 0;
    double product = 0;
    for (long i = 0; i < count; i++) {
        const double elapsed_us = all[i].at_us - model->middle.at_us;
        square += weight(&all[i]) * elapsed_us * elapsed_us;
        product += weight(&all[i]) * elapsed_us * (all[i].us - model->middle.us);
    }
    model->drift = product / square;

    double scatter = 0;
    for (long i = 0; i < count; i++) {
        const double off_us = all[i].us - clock_model_ahead_us(model, all[i].at_us);
        scatter += weight(&all[i]) * off_us * off_us / (double)(count - 2);
    }
    model->variance_us2 = scatter / weights;
    model->drift_variance = scatter / square;
}

double clock_model_ahead_us(const struct clock_model *model, double at_us)
{
    return model->middle.us + model->drift * (at_us - model->middle.at_us);
}

double clock_model_error_us(const struct clock_model *model, double at_us)
{
    const double elapsed_us = at_us - model->middle.at_us;
    const double variance_us2 =
        model->variance_us2 + model->drift_variance * elapsed_us * elapsed_us;
    return model->middle.error_us + STANDARD_ERRORS * sqrt(variance_us2);
}
