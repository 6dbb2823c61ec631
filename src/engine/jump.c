/* How the time changes between the two sizes of a search, and whether that is a jump. */
#include "jump.h"

#include <math.h>
#include <string.h>

#include "order.h"

/* Turns that time a jump: at least, and at most while they do not decide. */
enum { JUMP_TURNS = 15, JUMP_TURNS_MAX = 101 };

/* The turns must agree on a jump's direction by this many standard errors of a tossed coin. */
static const double AGREEMENT_ERRORS = 3.3;

static bool needs_a_turn(const struct explorer *explorer, const struct search *search,
                         const struct jump *jump);
static void decide(const double *ratios, struct jump *jump);

struct jump time_jump(struct explorer *explorer, struct search *search)
{
    double ratios[JUMP_TURNS_MAX];
    struct jump jump = {.turns = 0};
    while (needs_a_turn(explorer, search, &jump)) {
        double times[2];
        for (int i = 0; i < 2; i++) {
            const int next = (jump.turns + i) % 2;
            const int size_bytes = next == 0 ? search->last_bytes : search->first_bytes;
            times[next] = search_time_us(explorer, search, size_bytes);
        }
        ratios[jump.turns++] = times[1] / times[0] - 1;
        if (jump.turns >= JUMP_TURNS) {
            decide(ratios, &jump);
        }
    }
    return jump;
}

/* Too few turns, where the run ends, show no jump. */
static bool needs_a_turn(const struct explorer *explorer, const struct search *search,
                         const struct jump *jump)
{
    if (jump->turns < JUMP_TURNS) {
        return !explorer_is_out_of_time(explorer);
    }
    return jump->turns < JUMP_TURNS_MAX && is_undecided(jump) &&
           !is_past(explorer, search->deadline_us);
}

bool recurs(struct explorer *explorer, struct search *search, struct jump *jump)
{
    const bool slower = jump->relative > 0;
    *jump = time_jump(explorer, search);
    return is_real(search, jump) && (jump->relative > 0) == slower;
}

/* The quartiles of normal samples are 1.349 standard deviations apart, and the median's error is
 * 1.2533 times the mean's. */
static void decide(const double *ratios, struct jump *jump)
{
    double sorted[JUMP_TURNS_MAX];
    const size_t turns = (size_t)jump->turns;
    memcpy(sorted, ratios, turns * sizeof *sorted);
    sort_doubles(sorted, turns);
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

bool is_undecided(const struct jump *jump)
{
    return !is_agreed(jump) && fabs(jump->relative) + 2 * jump->error >= JUMP_LEAST;
}

/* The slope explains most if the time is proportional to the size; over a few bytes the time is
 * latency. */
bool is_real(const struct search *search, const struct jump *jump)
{
    const int bytes = search->first_bytes - search->last_bytes;
    const double slope = bytes <= NARROW_BYTES || jump->relative < 0
                             ? 0
                             : (double)bytes / fmax(search->last_bytes, 1);
    return is_agreed(jump) && fabs(jump->relative) >= JUMP_LEAST + slope;
}
