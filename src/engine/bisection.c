/* Timing bisection: between which two neighbouring sizes does the time jump? */
#include "bisection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "jump.h"
#include "pacing.h"

/* The middle goes to one side once this many more turns say so than say the opposite; likewise the
 * turns that say that there is a jump between the ends. TURNS_MAX turns must do. */
enum { TURNS_AHEAD = 3, TURNS_MAX = 20 };

/* A search that noise has misled this many times finds nothing. */
enum { ASTRAY_MAX = 32 };

/* Halvings that take any span to neighbouring sizes. */
enum { DEPTH_MAX = 32 };

/* Over so small a part of the size, the slope of a curve moves the time by less than half the least
 * jump, as it does over NARROW_BYTES: ends that differ by less have no jump between them. */
static const double NARROW = 0.03;

/* Two sizes, in bytes. */
struct span {
    int last;
    int first;
};

static void seek_jump(struct explorer *explorer, struct search *search, long most_ms);
static void say_what_was_found(struct search *search, const struct jump *jump, long spent_ms);
static bool descend(struct explorer *explorer, struct search *search, struct jump *jump);
static bool are_neighbours(const struct search *search);
static int middle_of(const struct search *search);
static bool is_narrow(const struct search *search);
static int side_of_middle(struct explorer *explorer, struct search *search, int direction);

void bisect(struct explorer *explorer, struct search *search, long most_ms)
{
    const struct explorer before = *explorer;
    search->deadline_us = clock_us() + (double)most_ms * 1e3;
    equal_blocks(explorer, search);
    pace(explorer, search);
    if (search->pause_us == 0) { /* a slow moment may have hidden that pauses help */
        pace(explorer, search);
    }
    seek_jump(explorer, search, most_ms);
    *explorer = before;
}

static void seek_jump(struct explorer *explorer, struct search *search, long most_ms)
{
    search->last_bytes = search->low_bytes;
    search->first_bytes = search->high_bytes;
    struct jump jump = time_jump(explorer, search);
    bool late = is_past(explorer, search->deadline_us);
    if (is_real(search, &jump) || search->high_bytes - search->low_bytes > NARROW_BYTES) {
        if (descend(explorer, search, &jump)) {
            search->outcome = EXACT;
        } else {
            late = is_past(explorer, search->deadline_us);
            jump = time_jump(explorer, search);
            const bool smaller = search->first_bytes - search->last_bytes <
                                 (search->high_bytes - search->low_bytes) / 2;
            if (smaller && is_real(search, &jump) && recurs(explorer, search, &jump)) {
                search->outcome = are_neighbours(search) ? EXACT : INTERVAL;
            }
        }
    }
    if (!is_found(search) && explorer_is_out_of_time(explorer)) {
        return; /* the run ends, not the search */
    }
    say_what_was_found(search, &jump, late ? most_ms : 0);
}

/* `spent_ms` is the time of a search that used it up, else 0. */
static void say_what_was_found(struct search *search, const struct jump *jump, long spent_ms)
{
    search->jump = jump->relative;
    if (is_found(search)) {
        snprintf(search->reason, sizeof search->reason,
                 "time changes by %+.0f %% from %d to %d bytes, in %d of %d turns%s",
                 100 * jump->relative, search->last_bytes, search->first_bytes, jump->agreeing,
                 jump->turns,
                 search->pause_us > 0 ? ", with pauses because the link throttles" : "");
    } else if (spent_ms > 0) {
        search->outcome = UNSURE;
        search->out_of_time = true;
        snprintf(
            search->reason, sizeof search->reason,
            "ran out of time: --search-time %ld ms was over after %ld visits; give it more time",
            spent_ms, search->visits);
    } else if (is_undecided(jump)) {
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

/* Collective. Halves the span until its sides are neighbours with a jump between them. Where there
 * is no jump, noise has misled it, and it goes back, twice as far each time in a row (a noisy
 * binary search; Karp and Kleinberg 2007). The slope of the curve may hide the jump's direction:
 * back at the start, it tries the other direction. */
static bool descend(struct explorer *explorer, struct search *search, struct jump *jump)
{
    struct span path[DEPTH_MAX] = {{search->low_bytes, search->high_bytes}};
    int depth = 0;
    int back = 1;
    int direction = jump->relative < 0 ? -1 : 1;
    for (int astray = 0; astray < ASTRAY_MAX && !is_past(explorer, search->deadline_us);) {
        search->last_bytes = path[depth].last;
        search->first_bytes = path[depth].first;
        if (!are_neighbours(search)) {
            const int middle = middle_of(search);
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

static bool are_neighbours(const struct search *search)
{
    return search->first_bytes - search->last_bytes <= search->unit_bytes;
}

static int middle_of(const struct search *search)
{
    const int units = (search->first_bytes - search->last_bytes) / search->unit_bytes;
    return search->last_bytes + units / 2 * search->unit_bytes;
}

static bool is_narrow(const struct search *search)
{
    const int bytes = search->first_bytes - search->last_bytes;
    return bytes <= NARROW_BYTES || bytes <= NARROW * search->last_bytes;
}

/* Collective. Negative when the middle belongs to the last size, positive when it belongs to the
 * first, 0 when the turns do not decide or show no jump between the ends. On a straight line the
 * middle would take the mean of the ends. */
static int side_of_middle(struct explorer *explorer, struct search *search, int direction)
{
    const int sizes[] = {
        search->last_bytes,
        middle_of(search),
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
            times[next] = search_time_us(explorer, search, sizes[next]);
        }
        balance += direction * (times[1] - (times[0] + times[2]) / 2) > 0 ? 1 : -1;
        jumping += direction * (times[2] - times[0]) > JUMP_LEAST / 2 * times[0] ? 1 : -1;
    }
    return jumping < least ? 0 : balance;
}
