/* A kernel that explores a size for which it has no buffers. */
#include "explorer.h"
#include "pair_modes.h"

static void overreach(struct explorer *explorer)
{
    explore(explorer, explorer->modes[0], explorer->largest_bytes + 1);
}

int main(int argc, char **argv)
{
    const struct kernel overreaching = {
        .name = "overreach",
        .summary = "explores a size beyond its buffers",
        .ranks_min = 2,
        .ranks_max = 2,
        .timing = TIME_AT_ROOT,
        .modes = PAIR_MODES,
        .explore = overreach,
    };
    return engine_main(argc, argv, &overreaching);
}
