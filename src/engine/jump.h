/* How the time changes between the two sizes of a search, and whether that is a jump. */
#ifndef SWITCHPOINT_JUMP_H
#define SWITCHPOINT_JUMP_H

#include "search.h"

/* Smaller jumps cannot be distinguished from noise and from the slope of the curve. */
static const double JUMP_LEAST = 0.08;

/* Over so few bytes the slope of a curve moves the time little: ends that show no jump have none
 * between them, and there is nothing to search. */
enum { NARROW_BYTES = 64 };

struct jump {
    double relative; /* median over the turns */
    double error;    /* standard error of that median, from the quartiles */
    int turns;
    int agreeing; /* turns with its sign */
};

/* Collective. Times the last and the first size of the search in turn. */
struct jump time_jump(struct explorer *explorer, struct search *search);

/* Collective. Times the jump again. The search has chosen among many places, so only turns that had
 * no part in the choice can say whether its jump is more than the largest one of chance. */
bool recurs(struct explorer *explorer, struct search *search, struct jump *jump);

/* Whether the turns agree on a jump that is larger than the slope of the curve explains. */
bool is_real(const struct search *search, const struct jump *jump);

/* Whether the jump may or may not be large enough. */
bool is_undecided(const struct jump *jump);

#endif
