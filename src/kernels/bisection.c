/* Timing bisection: between which two neighbouring sizes does the time jump? */
#include "bisection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "memory.h"

/* Smaller jumps are not told from noise and from the slope of the curve. */
static const double JUMP_LEAST = 0.08;

/* A side is decided once so many turns more speak for it than against, of so many at most. */
enum { TURNS_AHEAD = 4, TURNS_MAX = 24 };

/* Turns that time a jump, and how many of them must agree in its direction: by chance one of a
 * thousand would. Where fewer do, and the median is large enough all the same, more are taken. */
enum { JUMP_TURNS = 15, JUMP_AGREEING = 14, MORE_TURNS = 45, MORE_AGREEING = 34 };

/* A search that takes longer will hardly end well: something else wants the cores. */
static const double TIME_MOST_US = 0.9e6;

/* Over so few bytes a curve's slope moves nothing: no jump between the ends is none within. */
enum { NARROW_BYTES = 64 };

/* How the time changes between two sizes. */
struct jump {
    double relative; /* median over the turns */
    double error;    /* standard error of that median, from the quartiles */
    int turns;
    int agreeing; /* turns with its sign */
};

static bool out_of_time(const struct explorer *explorer, double start_us);
static int side_of_middle(struct explorer *explorer, struct search *search, int direction);
static struct jump time_jump(struct explorer *explorer, struct search *search);
static void judge(const double *ratios, struct jump *jump);
static bool is_open(const struct jump *jump);
static bool is_real(const struct search *search, const struct jump *jump);

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Collective. The median block of one visit. */
static double time_us(struct explorer *explorer, struct search *search, int size_bytes)
{
    const struct blocks blocks = explore(explorer, search->mode, size_bytes);
    search->visits++;
    double *times = allocate((size_t)blocks.count, sizeof *times);
    for (long i = 0; i < blocks.count; i++) {
        times[i] = blocks.values_us[(size_t)i * blocks.columns];
    }
    qsort(times, (size_t)blocks.count, sizeof *times, ascending);
    const double median = times[blocks.count / 2];
    free(times);
    return median;
}

void bisect(struct explorer *explorer, struct search *search)
{
    const double start_us = clock_us();
    search->last_bytes = search->low_bytes;
    search->first_bytes = search->high_bytes;
    const bool narrow = search->high_bytes - search->low_bytes <= NARROW_BYTES;
    struct jump jump = time_jump(explorer, search);
    int direction = jump.relative < 0 ? -1 : 1;

    /* The slope of the curve may hide which way the jump goes: then try the other. */
    const int attempts = narrow ? (is_real(search, &jump) ? 1 : 0) : 2;
    for (int attempt = 0; attempt < attempts; attempt++, direction = -direction) {
        search->last_bytes = search->low_bytes;
        search->first_bytes = search->high_bytes;
        int side = 1;
        while (side != 0 && search->first_bytes - search->last_bytes > 1) {
            if (out_of_time(explorer, start_us)) {
                search->jump = NAN;
                search->outcome = UNSURE;
                snprintf(search->reason, sizeof search->reason,
                         "took over %.1f s; measure again on quieter cores", TIME_MOST_US / 1e6);
                return;
            }
            const int middle = search->last_bytes + (search->first_bytes - search->last_bytes) / 2;
            side = side_of_middle(explorer, search, direction);
            search->last_bytes = side < 0 ? middle : search->last_bytes;
            search->first_bytes = side > 0 ? middle : search->first_bytes;
        }
        jump = time_jump(explorer, search);
        if (is_real(search, &jump)) {
            search->jump = jump.relative;
            search->outcome = search->first_bytes - search->last_bytes == 1 ? EXACT : INTERVAL;
            snprintf(search->reason, sizeof search->reason,
                     "time changes by %+.0f %% from %d to %d bytes, in %d of %d turns",
                     100 * jump.relative, search->last_bytes, search->first_bytes, jump.agreeing,
                     jump.turns);
            return;
        }
    }
    search->jump = jump.relative;
    search->outcome = 2 * jump.error > JUMP_LEAST ? UNSURE : NONE;
    if (search->outcome == UNSURE) {
        snprintf(search->reason, sizeof search->reason,
                 "times scatter too much to see a jump of %.0f %%; measure longer blocks",
                 100 * JUMP_LEAST);
    } else {
        snprintf(search->reason, sizeof search->reason,
                 "no two neighbouring sizes differ by %.0f %% or more", 100 * JUMP_LEAST);
    }
}

/* Collective. By rank 0's clock. */
static bool out_of_time(const struct explorer *explorer, double start_us)
{
    int late = clock_us() - start_us > TIME_MOST_US;
    MPI_CHECK(MPI_Bcast(&late, 1, MPI_INT, 0, explorer->task->comm));
    return late != 0;
}

/* Collective. Negative when the middle belongs to the last size, positive when to the first, 0 when
 * the turns do not tell. The ends' mean is what the middle of a straight line would take. */
static int side_of_middle(struct explorer *explorer, struct search *search, int direction)
{
    const int sizes[] = {
        search->last_bytes,
        search->last_bytes + (search->first_bytes - search->last_bytes) / 2,
        search->first_bytes,
    };
    int balance = 0;
    for (int turn = 0; turn < TURNS_MAX && abs(balance) < TURNS_AHEAD; turn++) {
        double times[3];
        for (int i = 0; i < 3; i++) {
            const int next = (turn + i) % 3; /* no size is always first */
            times[next] = time_us(explorer, search, sizes[next]);
        }
        balance += direction * (times[1] - (times[0] + times[2]) / 2) > 0 ? 1 : -1;
    }
    return abs(balance) < TURNS_AHEAD ? 0 : balance;
}

/* Collective. Times both sides in turn. */
static struct jump time_jump(struct explorer *explorer, struct search *search)
{
    double ratios[MORE_TURNS];
    struct jump jump = {.turns = 0};
    do {
        double times[2];
        for (int i = 0; i < 2; i++) {
            const int next = (jump.turns + i) % 2;
            times[next] =
                time_us(explorer, search, next == 0 ? search->last_bytes : search->first_bytes);
        }
        ratios[jump.turns++] = times[1] / times[0] - 1;
        if (jump.turns >= JUMP_TURNS) {
            judge(ratios, &jump);
        }
    } while (jump.turns < JUMP_TURNS || (jump.turns < MORE_TURNS && is_open(&jump)));
    return jump;
}

/* Of normal samples the quartiles lie 1.349 deviations apart, and the median's error is 1.2533
 * times the mean's. */
static void judge(const double *ratios, struct jump *jump)
{
    double sorted[MORE_TURNS];
    const size_t turns = (size_t)jump->turns;
    memcpy(sorted, ratios, turns * sizeof *sorted);
    qsort(sorted, turns, sizeof *sorted, ascending);
    const double deviation = (sorted[3 * turns / 4] - sorted[turns / 4]) / 1.349;
    jump->relative = sorted[turns / 2];
    jump->error = 1.2533 * deviation / sqrt((double)turns);
    jump->agreeing = 0;
    for (size_t i = 0; i < turns; i++) {
        jump->agreeing += (sorted[i] > 0) == (jump->relative > 0);
    }
}

static bool is_agreed(const struct jump *jump)
{
    return jump->agreeing >= (jump->turns == JUMP_TURNS ? JUMP_AGREEING : MORE_AGREEING);
}

/* Large enough, but not agreed on. */
static bool is_open(const struct jump *jump)
{
    const bool agreed = jump->turns == JUMP_TURNS && is_agreed(jump);
    return fabs(jump->relative) >= JUMP_LEAST && !agreed;
}

/* More than the slope explains, were the time all proportional to the size. */
static bool is_real(const struct search *search, const struct jump *jump)
{
    const double slope = (search->first_bytes - search->last_bytes) / fmax(search->last_bytes, 1);
    return is_agreed(jump) && fabs(jump->relative) >= JUMP_LEAST + (jump->relative > 0 ? slope : 0);
}
