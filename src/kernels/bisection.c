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

/* A side is taken once so many turns more speak for it than against, of so many at most, and as
 * many for a jump between the ends. */
enum { TURNS_AHEAD = 3, TURNS_MAX = 20 };

/* A search that noise has led astray so many times finds nothing. */
enum { ASTRAY_MAX = 32 };

/* Halvings that take any span to neighbouring sizes. */
enum { DEPTH_MAX = 32 };

/* Turns that time a jump: at least, and at most as long as they do not tell. */
enum { JUMP_TURNS = 15, JUMP_TURNS_MAX = 101 };

/* So many standard errors of a tossed coin must the turns agree on a jump's direction. */
static const double AGREEMENT_ERRORS = 3.3;

/* No turn begins later: a search that takes so long will hardly end well. */
static const double TIME_MOST_US = 0.8e6;

/* Whether a link throttles what goes over it at once is seen when it has been used for so long. */
static const double USE_US = 3e4;

/* Visits with and without a pause that tell whether it helps: it must save so much of the time, and
 * their quartiles must not meet. One visit is then begun so many times as late as the link can
 * serve one after the other. */
enum { PACING_VISITS = 9 };
static const double PACED_TIME_MOST = 0.85;
static const double PACE = 1.3;

/* Over so small a part of the size a curve's slope moves less than half the least jump, as it does
 * over NARROW_BYTES: ends that differ by less have no jump between them. */
static const double NARROW = 0.03;

/* Two sizes, in bytes. */
struct span {
    int last;
    int first;
};

/* How the time changes between two sizes. */
struct jump {
    double relative; /* median over the turns */
    double error;    /* standard error of that median, from the quartiles */
    int turns;
    int agreeing; /* turns with its sign */
};

/* Several visits to one size. */
struct visits {
    double blocks_us[PACING_VISITS]; /* ascending */
    double each_us;                  /* median, all about a visit included */
};

static void equal_blocks(struct explorer *explorer, struct search *search);
static void pace(struct explorer *explorer, struct search *search);
static struct visits visit(struct explorer *explorer, struct search *search, int size_bytes);
static bool is_faster(const struct visits *left, const struct visits *right);
static void seek_jump(struct explorer *explorer, struct search *search);
static bool descend(struct explorer *explorer, struct search *search, struct jump *jump);
static bool is_narrow(const struct search *search);
static bool is_past(const struct explorer *explorer, double moment_us);
static int side_of_middle(struct explorer *explorer, struct search *search, int direction);
static struct jump time_jump(struct explorer *explorer, struct search *search);
static bool recurs(struct explorer *explorer, struct search *search, struct jump *jump);
static void judge(const double *ratios, struct jump *jump);
static bool is_undecided(const struct jump *jump);
static bool is_real(const struct search *search, const struct jump *jump);

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

/* Collective. The median block of one visit; a first visit, which warms up, comes on top. */
static double time_us(struct explorer *explorer, struct search *search, int size_bytes)
{
    struct blocks blocks;
    do {
        blocks = explore(explorer, search->mode, size_bytes);
        search->visits++;
    } while (blocks.first);
    double *times = allocate((size_t)blocks.count, sizeof *times);
    for (long i = 0; i < blocks.count; i++) {
        times[i] = blocks.values_us[(size_t)i * blocks.columns];
    }
    const double median = median_of(times, (size_t)blocks.count);
    free(times);
    return median;
}

void bisect(struct explorer *explorer, struct search *search)
{
    const struct explorer before = *explorer;
    search->deadline_us = clock_us() + TIME_MOST_US;
    equal_blocks(explorer, search);
    pace(explorer, search);
    if (search->pause_us == 0) { /* a slow moment may have hidden that pauses help */
        pace(explorer, search);
    }
    seek_jump(explorer, search);
    *explorer = before;
}

/* Collective. A block's first repetitions are slower, all the more after a visit to a size on the
 * other side of a switch: as many are left out, and all sizes' blocks have the same number, or
 * sizes would differ that take the same time. */
static void equal_blocks(struct explorer *explorer, struct search *search)
{
    const long at_low = explore(explorer, search->mode, search->low_bytes).iterations;
    const long at_high = explore(explorer, search->mode, search->high_bytes).iterations;
    explorer->iterations = at_low > at_high ? at_low : at_high;
    explorer->warmup = explorer->iterations;
    search->visits += 2;
}

/* Collective. A link that throttles, such as one behind a token bucket, hides what a message takes
 * by itself: there visits are paused until the link has made up for the last one. The smaller size
 * shows it better: of one that is larger than the bucket most is throttled in any case. */
static void pace(struct explorer *explorer, struct search *search)
{
    const struct explorer hurrying = *explorer;
    explorer->warmup = 0;
    const double end_us = clock_us() + USE_US;
    struct visits hurried;
    do {
        hurried = visit(explorer, search, search->low_bytes);
    } while (!is_past(explorer, end_us));
    explorer->pause_us += (long)hurried.each_us;
    const struct visits paced = visit(explorer, search, search->low_bytes);

    /* Rank 0 decides, with its clock. */
    search->pause_us = 0;
    if (is_faster(&paced, &hurried)) {
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

/* Collective. */
static struct visits visit(struct explorer *explorer, struct search *search, int size_bytes)
{
    struct visits visits;
    double each_us[PACING_VISITS];
    for (int i = 0; i < PACING_VISITS; i++) {
        const double start_us = clock_us();
        visits.blocks_us[i] = time_us(explorer, search, size_bytes);
        each_us[i] = clock_us() - start_us;
    }
    qsort(visits.blocks_us, PACING_VISITS, sizeof visits.blocks_us[0], ascending);
    visits.each_us = median_of(each_us, PACING_VISITS);
    return visits;
}

static bool is_faster(const struct visits *left, const struct visits *right)
{
    const int middle = PACING_VISITS / 2;
    const int quarter = PACING_VISITS / 4;
    return left->blocks_us[middle] < PACED_TIME_MOST * right->blocks_us[middle] &&
           left->blocks_us[PACING_VISITS - 1 - quarter] < right->blocks_us[quarter];
}

static void seek_jump(struct explorer *explorer, struct search *search)
{
    search->last_bytes = search->low_bytes;
    search->first_bytes = search->high_bytes;
    struct jump jump = time_jump(explorer, search);
    bool late = false;
    if (is_real(search, &jump) || search->high_bytes - search->low_bytes > NARROW_BYTES) {
        if (descend(explorer, search, &jump)) {
            search->outcome = EXACT;
        } else {
            late = is_past(explorer, search->deadline_us);
            jump = time_jump(explorer, search);
            const bool smaller = search->first_bytes - search->last_bytes <
                                 (search->high_bytes - search->low_bytes) / 2;
            if (smaller && is_real(search, &jump) && recurs(explorer, search, &jump)) {
                search->outcome = search->first_bytes - search->last_bytes > 1 ? INTERVAL : EXACT;
            }
        }
    }
    search->jump = jump.relative;
    if (is_found(search)) {
        snprintf(search->reason, sizeof search->reason,
                 "time changes by %+.0f %% from %d to %d bytes, in %d of %d turns%s",
                 100 * jump.relative, search->last_bytes, search->first_bytes, jump.agreeing,
                 jump.turns, search->pause_us > 0 ? ", paused for the link throttles" : "");
    } else if (late || is_undecided(&jump)) {
        search->outcome = UNSURE;
        snprintf(search->reason, sizeof search->reason,
                 "times scatter too much to see a jump of %.0f %%; measure again on quieter cores",
                 100 * JUMP_LEAST);
    } else {
        search->outcome = NONE;
        snprintf(search->reason, sizeof search->reason,
                 "no two neighbouring sizes differ by %.0f %% or more", 100 * JUMP_LEAST);
    }
}

/* Collective. Halves the span until its sides are neighbours with a jump between them. Where that
 * leads nowhere, noise has led it astray, and it goes back, twice as far each time in a row (a
 * noisy binary search; Karp and Kleinberg 2007). The curve's slope may hide which way the jump
 * goes: back where it began, it tries the other. */
static bool descend(struct explorer *explorer, struct search *search, struct jump *jump)
{
    struct span path[DEPTH_MAX] = {{search->low_bytes, search->high_bytes}};
    int depth = 0;
    int back = 1;
    int direction = jump->relative < 0 ? -1 : 1;
    for (int astray = 0; astray < ASTRAY_MAX && !is_past(explorer, search->deadline_us);) {
        search->last_bytes = path[depth].last;
        search->first_bytes = path[depth].first;
        if (search->first_bytes - search->last_bytes > 1) {
            const int middle = search->last_bytes + (search->first_bytes - search->last_bytes) / 2;
            const int side = side_of_middle(explorer, search, direction);
            if (side != 0) {
                path[++depth] = side < 0 ? (struct span){middle, search->first_bytes}
                                         : (struct span){search->last_bytes, middle};
                back = is_narrow(search) ? 1 : back;
                continue;
            }
        } else {
            *jump = time_jump(explorer, search);
            if (is_real(search, jump) && recurs(explorer, search, jump)) {
                return true;
            }
        }
        astray++;
        depth -= back;
        back *= 2;
        if (depth <= 0) {
            depth = 0;
            back = 1;
            direction = -direction;
        }
    }
    return false;
}

static bool is_narrow(const struct search *search)
{
    const int bytes = search->first_bytes - search->last_bytes;
    return bytes <= NARROW_BYTES || bytes <= NARROW * search->last_bytes;
}

/* Collective. By rank 0's clock. */
static bool is_past(const struct explorer *explorer, double moment_us)
{
    int past = clock_us() > moment_us;
    MPI_CHECK(MPI_Bcast(&past, 1, MPI_INT, 0, explorer->task->comm));
    return past != 0;
}

/* Collective. Negative when the middle belongs to the last size, positive when to the first, 0 when
 * the turns do not tell or show no jump between the ends. The ends' mean is what the middle of a
 * straight line would take. */
static int side_of_middle(struct explorer *explorer, struct search *search, int direction)
{
    const int sizes[] = {
        search->last_bytes,
        search->last_bytes + (search->first_bytes - search->last_bytes) / 2,
        search->first_bytes,
    };
    int balance = 0;
    int jumping = 0;
    const int least = is_narrow(search) ? TURNS_AHEAD : 0; /* else the slope decides */
    for (int turn = 0; abs(balance) < TURNS_AHEAD || abs(jumping) < least; turn++) {
        if (turn == TURNS_MAX || is_past(explorer, search->deadline_us)) {
            return 0;
        }
        double times[3];
        for (int i = 0; i < 3; i++) {
            const int next = turn % 2 == 0 ? i : 2 - i; /* the middle follows either end */
            times[next] = time_us(explorer, search, sizes[next]);
        }
        balance += direction * (times[1] - (times[0] + times[2]) / 2) > 0 ? 1 : -1;
        jumping += direction * (times[2] - times[0]) > JUMP_LEAST / 2 * times[0] ? 1 : -1;
    }
    return jumping < least ? 0 : balance;
}

/* Collective. Times both sides in turn. */
static struct jump time_jump(struct explorer *explorer, struct search *search)
{
    double ratios[JUMP_TURNS_MAX];
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
    } while (jump.turns < JUMP_TURNS || (jump.turns < JUMP_TURNS_MAX && is_undecided(&jump) &&
                                         !is_past(explorer, search->deadline_us)));
    return jump;
}

/* Collective. The search has chosen among many places: only turns that had no part in the choice
 * say whether its jump is more than the largest of chance. */
static bool recurs(struct explorer *explorer, struct search *search, struct jump *jump)
{
    const bool slower = jump->relative > 0;
    *jump = time_jump(explorer, search);
    return is_real(search, jump) && (jump->relative > 0) == slower;
}

/* Of normal samples the quartiles lie 1.349 deviations apart, and the median's error is 1.2533
 * times the mean's. */
static void judge(const double *ratios, struct jump *jump)
{
    double sorted[JUMP_TURNS_MAX];
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
    return 2 * jump->agreeing - jump->turns >= AGREEMENT_ERRORS * sqrt(jump->turns);
}

/* Whether it may be large enough and may be not. */
static bool is_undecided(const struct jump *jump)
{
    return !is_agreed(jump) && fabs(jump->relative) + 2 * jump->error >= JUMP_LEAST;
}

/* More than the slope explains, were the time all proportional to the size; over a few bytes it is
 * latency. */
static bool is_real(const struct search *search, const struct jump *jump)
{
    const int bytes = search->first_bytes - search->last_bytes;
    const double slope = bytes <= NARROW_BYTES || jump->relative < 0
                             ? 0
                             : (double)bytes / fmax(search->last_bytes, 1);
    return is_agreed(jump) && fabs(jump->relative) >= JUMP_LEAST + slope;
}
