/* The bandwidths of a pattern: the formulas are in bandwidth.c and nowhere else. */
#ifndef SWITCHPOINT_BANDWIDTH_H
#define SWITCHPOINT_BANDWIDTH_H

/* What a message size is the size of. */
enum pattern {
    PATTERN_MESSAGE,   /* one message, also in a stream of them */
    PATTERN_BROADCAST, /* one message for all ranks */
    PATTERN_ALLGATHER, /* one rank's message, of which all ranks get one from each rank */
    PATTERN_ALLTOALL,  /* the message of each pair of ranks */
    PATTERN_PROBLEM    /* of data to compute with: time is not only that of messages */
};

/* In MB/s (10^6 bytes/s); NaN for PATTERN_PROBLEM. */
struct bandwidth {
    double algorithm_MBps; /* size of the whole operation over time */
    double bus_MBps;       /* what the link of a rank carries at least, which no link exceeds,
                              however many ranks there are */
};

struct bandwidth bandwidth_of(enum pattern pattern, int ranks, double size_bytes, double time_us);

/* "alltoall". */
const char *pattern_name(enum pattern pattern);

#endif
