/* The bandwidths of a pattern: the algorithm's is S / t, and the bus's is that times a factor, with
 * which the best possible algorithm has the bandwidth of a link. */
#include "bandwidth.h"

#include <math.h>
#include <stddef.h>

const struct pattern PATTERN_MESSAGE = {.name = "message"};
const struct pattern PATTERN_PROBLEM = {.name = "problem", .computes = true};

double one_for_each_rank(int ranks)
{
    return ranks;
}

double all_but_own(int ranks)
{
    return (double)(ranks - 1) / ranks;
}

struct bandwidth bandwidth_of(const struct pattern *pattern, int ranks, double size_bytes,
                              double time_us)
{
    if (pattern->computes) {
        return (struct bandwidth){NAN, NAN};
    }
    const double sizes = pattern->sizes != NULL ? pattern->sizes(ranks) : 1;
    const double factor = pattern->bus_factor != NULL ? pattern->bus_factor(ranks) : 1;
    const double algorithm_MBps = sizes * size_bytes / time_us;
    return (struct bandwidth){algorithm_MBps, algorithm_MBps * factor};
}
