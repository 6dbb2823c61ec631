/* The bandwidths of a pattern, as nccl-tests defines them (doc/PERFORMANCE.md). */
#ifndef SWITCHPOINT_BANDWIDTH_H
#define SWITCHPOINT_BANDWIDTH_H

#include <stdbool.h>

/* What a message size is the size of. The file of a kernel has its own, if it needs one. */
struct pattern {
    const char *name; /* "alltoall" */

    /* How many sizes the whole operation has: nccl-tests counts all that a rank has before or after
     * it. NULL: 1. */
    double (*sizes)(int ranks);

    /* The part of it that crosses a rank's link with the best possible algorithm; NULL: 1. */
    double (*bus_factor)(int ranks);

    bool computes; /* time is not only that of messages: there are no bandwidths */
};

/* One message, also in a stream of them: the pattern of a kernel that has none. */
extern const struct pattern PATTERN_MESSAGE;
/* Data to compute with. */
extern const struct pattern PATTERN_PROBLEM;

/* `sizes`: a message from or for each rank. */
double one_for_each_rank(int ranks);
/* `bus_factor`: a rank's own message never leaves it. */
double all_but_own(int ranks);

/* In MB/s (10^6 bytes/s); NaN for a pattern that computes. */
struct bandwidth {
    double algorithm_MBps; /* size of the whole operation over time */
    double bus_MBps;       /* what the link of a rank carries at least, which no link exceeds,
                              however many ranks there are */
};

struct bandwidth bandwidth_of(const struct pattern *pattern, int ranks, double size_bytes,
                              double time_us);

#endif
