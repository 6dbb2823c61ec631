/* The bandwidths of a pattern against what nccl-tests documents. */
#include <math.h>

#include "bandwidth.h"
#include "check.h"

static void a_message_has_one_bandwidth(void)
{
    const struct bandwidth bandwidth = bandwidth_of(&PATTERN_MESSAGE, 2, 1000, 4);
    CHECK(bandwidth.algorithm_MBps == 250);
    CHECK(bandwidth.bus_MBps == 250);
}

/* S is what a rank has of all ranks, of which it sends or gets all but its own: (n - 1) / n. */
static void all_ranks_messages_cross_the_link_but_for_ones_own(void)
{
    const struct pattern pattern = {.sizes = one_for_each_rank, .bus_factor = all_but_own};
    const struct bandwidth bandwidth = bandwidth_of(&pattern, 4, 1000, 4);
    CHECK(bandwidth.algorithm_MBps == 1000);
    CHECK(bandwidth.bus_MBps == 750);
}

static void a_problem_has_none(void)
{
    const struct bandwidth bandwidth = bandwidth_of(&PATTERN_PROBLEM, 4, 1000, 4);
    CHECK(isnan(bandwidth.algorithm_MBps));
    CHECK(isnan(bandwidth.bus_MBps));
}

int main(void)
{
    a_message_has_one_bandwidth();
    all_ranks_messages_cross_the_link_but_for_ones_own();
    a_problem_has_none();
    return check_result();
}
