/* One search for the size at which something switches, and how it ended. */
#ifndef SWITCHPOINT_SEARCH_H
#define SWITCHPOINT_SEARCH_H

#include "explorer.h"

enum outcome {
    OPEN,     /* not complete: the run has used its time budget */
    EXACT,    /* `last_bytes` and `first_bytes` are neighbours */
    INTERVAL, /* they are as close to each other as the noise allows */
    NONE,
    UNSURE,
};

struct search {
    const struct mode *mode;
    int low_bytes;  /* searched from here */
    int high_bytes; /* to here */
    enum outcome outcome;
    int last_bytes;  /* the last size before the switch */
    int first_bytes; /* the first size after it */
    double jump;     /* relative change of time from the last size to the first; NaN: not timed */
    int unit_bytes;  /* neighbouring sizes are so far apart, since the mode takes no others */
    long visits;
    double time_us;
    double deadline_us;  /* of a bisection, by rank 0's clock */
    bool out_of_time;    /* it found nothing before that, or before the time budget was over */
    long pause_us;       /* before each timed block, because the link throttles; 0: none */
    long preemptions;    /* involuntary context switches of all ranks during the search */
    long compared_turns; /* in which the algorithms were then timed at both sizes */
    bool stayed_eager;   /* of the probe: MPI_Send returned early at all sizes */
    char reason[256];
};

/* Whether the two sizes say where the switch is. */
static inline bool is_found(const struct search *search)
{
    return search->outcome == EXACT || search->outcome == INTERVAL;
}

/* Collective. The median block of one visit, in us. A point that is new gets one visit more, which
 * warms it up. */
double search_time_us(struct explorer *explorer, struct search *search, int size_bytes);

/* Collective. Whether rank 0's clock is past a moment, or the run has used its time budget. */
bool is_past(const struct explorer *explorer, double moment_us);

#endif
