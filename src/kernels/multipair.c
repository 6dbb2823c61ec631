/* Multi-pair: ping-pongs and streams of several pairs of ranks at once, as osu_multi_lat and
 * osu_mbw_mr measure them; the time is that of the slowest pair. */
#include "pair_modes.h"

int main(int argc, char **argv)
{
    const struct kernel multipair = {
        .name = "multipair",
        .summary = "all pairs of ranks i and i + n/2 at once; time_us of a stream counts the\n"
                   "messages of all pairs, so that size over time is their bandwidth together",
        .ranks_min = 2,
        .ranks_even = true,
        .timing = TIME_OF_SLOWEST,
        .modes = PAIR_MODES,
    };
    return engine_main(argc, argv, &multipair);
}
