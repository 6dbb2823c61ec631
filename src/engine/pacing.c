/* What a bisection sets up before it compares sizes: blocks of equal length, and pauses where a
 * link throttles. */
#include "pacing.h"

#include <math.h>

#include "clock.h"
#include "order.h"

/* How long a link must be in use before it shows whether it throttles. */
static const double USE_US = 3e4;

/* Visits with and without a pause. A pause helps when visits with it take less than this share of
 * the time, and the quartiles of the two do not meet. */
enum { PACING_VISITS = 9 };
static const double PACED_TIME_MOST = 0.85;

/* Visits then start this many times as far apart as the link can serve them one after the other. */
static const double PACE = 1.3;

/* Several visits to one size. */
struct visits {
    double blocks_us[PACING_VISITS]; /* ascending */
    double each_us;                  /* median time of a whole visit */
};

static bool visit(struct explorer *explorer, struct search *search, int size_bytes,
                  struct visits *visits);
static bool compare_pauses(struct explorer *explorer, struct search *search, struct visits *hurried,
                           struct visits *paced);
static bool is_faster(const struct visits *left, const struct visits *right);

void equal_blocks(struct explorer *explorer, struct search *search)
{
    const long at_low = explore(explorer, search->mode, search->low_bytes).iterations;
    const long at_high = explore(explorer, search->mode, search->high_bytes).iterations;
    explorer->iterations = at_low > at_high ? at_low : at_high;
    explorer->warmup = explorer->iterations;
    search->visits += 2;
}

/* Times the smaller size, which shows it better: most of a message that is larger than the bucket
 * is throttled in any case. */
void pace(struct explorer *explorer, struct search *search)
{
    const struct explorer hurrying = *explorer;
    struct visits hurried;
    struct visits paced;
    explorer->warmup = 0;
    search->pause_us = 0;

    /* Rank 0 decides, with its clock. */
    if (compare_pauses(explorer, search, &hurried, &paced) && is_faster(&paced, &hurried)) {
        const double larger = (double)search->high_bytes / fmax(search->low_bytes, 1);
        const double unpaused_us = paced.each_us - (double)explorer->pause_us;
        search->pause_us = (long)fmax(1, PACE * larger * hurried.each_us - unpaused_us);
    }
    MPI_CHECK(MPI_Bcast(&search->pause_us, 1, MPI_LONG, 0, explorer->task->comm));
    if (search->pause_us > 0) {
        explorer->pause_us = search->pause_us;
    } else {
        *explorer = hurrying;
    }
}

/* Collective. Visits the smaller size without a pause for long enough, then with one. False when
 * the run has used its time budget. */
static bool compare_pauses(struct explorer *explorer, struct search *search, struct visits *hurried,
                           struct visits *paced)
{
    const double end_us = clock_us() + USE_US;
    do {
        if (!visit(explorer, search, search->low_bytes, hurried)) {
            return false;
        }
    } while (!is_past(explorer, end_us));
    explorer->pause_us += (long)hurried->each_us;
    return visit(explorer, search, search->low_bytes, paced);
}

/* Collective. False when the run has used its time budget. */
static bool visit(struct explorer *explorer, struct search *search, int size_bytes,
                  struct visits *visits)
{
    double each_us[PACING_VISITS];
    for (int i = 0; i < PACING_VISITS; i++) {
        if (explorer_is_out_of_time(explorer)) {
            return false;
        }
        const double start_us = clock_us();
        visits->blocks_us[i] = search_time_us(explorer, search, size_bytes);
        each_us[i] = clock_us() - start_us;
    }
    sort_doubles(visits->blocks_us, PACING_VISITS);
    visits->each_us = median_of(each_us, PACING_VISITS);
    return true;
}

static bool is_faster(const struct visits *left, const struct visits *right)
{
    const int middle = PACING_VISITS / 2;
    const int quarter = PACING_VISITS / 4;
    return left->blocks_us[middle] < PACED_TIME_MOST * right->blocks_us[middle] &&
           left->blocks_us[PACING_VISITS - 1 - quarter] < right->blocks_us[quarter];
}
