/* One search for the byte at which something switches, and how it ended. */
#ifndef SWITCHPOINT_SEARCH_H
#define SWITCHPOINT_SEARCH_H

#include "engine.h"

enum outcome {
    OPEN,     /* not searched to its end */
    EXACT,    /* `last_bytes` and `first_bytes` are neighbours */
    INTERVAL, /* no closer to each other than noise allows */
    NONE,
    UNSURE,
};

struct search {
    const struct mode *mode;
    int low_bytes;  /* searched from here */
    int high_bytes; /* to here */
    enum outcome outcome;
    int last_bytes;  /* last size before the switch */
    int first_bytes; /* first size past it */
    double jump;     /* relative change of time from the last size to the first; NaN: not timed */
    long visits;
    double time_us;
    double deadline_us; /* of a bisection, by rank 0's clock */
    long pause_us;      /* before each timed block, because the link throttles; 0: none */
    long preemptions;   /* involuntary context switches of all ranks meanwhile */
    char reason[256];
};

/* Whether the two sizes say where the switch is. */
static inline bool is_found(const struct search *search)
{
    return search->outcome == EXACT || search->outcome == INTERVAL;
}

#endif
