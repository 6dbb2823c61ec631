/* Ping-pong: what one message between two ranks costs, alone and in a stream. */
#include "pair_modes.h"

int main(int argc, char **argv)
{
    const struct kernel pingpong = {
        .name = "pingpong",
        .summary = "what one message between two ranks costs, alone and in a stream",
        .ranks_min = 2,
        .ranks_max = 2,
        .timing = TIME_AT_ROOT,
        .modes = PAIR_MODES,
    };
    return engine_main(argc, argv, &pingpong);
}
