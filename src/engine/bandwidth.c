/* The bandwidths of a pattern, as nccl-tests defines them (doc/PERFORMANCE.md): the algorithm's is
 * S / t, and the bus's is that times a factor, with which the best possible algorithm has the
 * bandwidth of a link. */
#include "bandwidth.h"

#include <math.h>

/* S: nccl-tests counts all that a rank has before or after the operation. A size here is that of
 * one rank's message or of one pair's. */
static double operation_bytes(enum pattern pattern, int ranks, double size_bytes)
{
    return pattern == PATTERN_ALLGATHER || pattern == PATTERN_ALLTOALL ? ranks * size_bytes
                                                                       : size_bytes;
}

/* A rank's own message never leaves it. */
static double bus_factor(enum pattern pattern, int ranks)
{
    return pattern == PATTERN_ALLGATHER || pattern == PATTERN_ALLTOALL ? (double)(ranks - 1) / ranks
                                                                       : 1;
}

struct bandwidth bandwidth_of(enum pattern pattern, int ranks, double size_bytes, double time_us)
{
    if (pattern == PATTERN_PROBLEM) {
        return (struct bandwidth){NAN, NAN};
    }
    const double algorithm_MBps = operation_bytes(pattern, ranks, size_bytes) / time_us;
    return (struct bandwidth){algorithm_MBps, algorithm_MBps * bus_factor(pattern, ranks)};
}

const char *pattern_name(enum pattern pattern)
{
    static const char *const NAMES[] = {
        [PATTERN_MESSAGE] = "message",     [PATTERN_BROADCAST] = "broadcast",
        [PATTERN_ALLGATHER] = "allgather", [PATTERN_ALLTOALL] = "alltoall",
        [PATTERN_PROBLEM] = "problem",
    };
    return NAMES[pattern];
}
