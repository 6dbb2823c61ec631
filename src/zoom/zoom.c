/* Zoom: finds switches to the byte between two ranks. The late-receiver probe finds the end of the
 * eager protocol by itself; timing bisection finds a switch within each bracket that it is given.
 */
#include <stdlib.h>
#include <string.h>

#include "late_receiver.h"
#include "memory.h"
#include "pair_modes.h"
#include "zooming.h"

/* Bytes on either side of the probe's switch between which its step in time is searched for. */
enum { BESIDE_BYTES = 8 };

static void probe(struct explorer *explorer, struct search *search)
{
    late_receiver_search(explorer, explorer->task->state, search);
}

static int within(long bytes, const struct explorer *explorer)
{
    const long least = explorer->smallest_bytes;
    const long most = explorer->largest_bytes;
    return (int)(bytes < least ? least : bytes > most ? most : bytes);
}

/* The probe comes first, so that every mode can be timed at the switch that it found. */
static void zoom(struct explorer *explorer)
{
    struct search probed = {.outcome = NONE};
    for (size_t m = 0; m < explorer->mode_count; m++) {
        if (explorer->modes[m] == explorer->findings->probe) {
            probed = *zoom_conduct(explorer, explorer->modes[m], (int)explorer->smallest_bytes,
                                   (int)explorer->largest_bytes, probe);
        }
    }
    for (size_t m = 0; m < explorer->mode_count; m++) {
        const struct mode *mode = explorer->modes[m];
        if (mode == explorer->findings->probe) {
            continue;
        }
        zoom_brackets(explorer, mode);
        if (probed.outcome == EXACT) {
            zoom_between(explorer, mode, within(probed.last_bytes - BESIDE_BYTES, explorer),
                         within(probed.first_bytes + BESIDE_BYTES, explorer));
        }
    }
}

static const char *const DEFAULTS[] = {"--mode=late,send", "--samples=1", "--block-time=100",
                                       "--pass-time=1", NULL};

/* The probe, then the modes of a pair; ends with an entry without a name. Free with free(). */
static struct mode *all_modes(const struct late_receiver *late)
{
    size_t count = 0;
    while (PAIR_MODES[count].name != NULL) {
        count++;
    }
    struct mode *modes = allocate(1 + count + 1, sizeof *modes);
    modes[0] = late_receiver_mode(late);
    memcpy(modes + 1, PAIR_MODES, (count + 1) * sizeof *modes);
    for (size_t i = 1; i <= count; i++) {
        modes[i].large = false; /* a search counts in ints */
    }
    return modes;
}

int main(int argc, char **argv)
{
    struct late_receiver late = {0};
    struct mode *modes = all_modes(&late);
    const struct kernel kernel = {
        .name = "zoom",
        .summary = "finds switches to the byte, between the smallest and the largest of --sizes",
        .ranks_min = 2,
        .ranks_max = 2,
        .timing = TIME_AT_ROOT,
        .modes = modes,
        .probe = modes,
        .phases = LATE_RECEIVER_PHASES,
        .state = &late,
        .sizes = "1,1M",
        .defaults = DEFAULTS,
        .explore = zoom,
    };
    const int exit_code = engine_main(argc, argv, &kernel);
    free(modes);
    return exit_code;
}
