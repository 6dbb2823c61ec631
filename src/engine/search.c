/* One search for the size at which something switches: its visits and its time. */
#include "search.h"

#include <stdlib.h>

#include "agreement.h"
#include "clock.h"
#include "memory.h"
#include "order.h"

double search_time_us(struct explorer *explorer, struct search *search, int size_bytes)
{
    struct blocks blocks;
    do {
        blocks = explore(explorer, search->mode, size_bytes);
        search->visits++;
    } while (blocks.first);
    double *times = allocate((size_t)blocks.count, sizeof *times);
    for (long i = 0; i < blocks.count; i++) {
        times[i] = blocks.values_us[(size_t)i * blocks.columns];
    }
    const double median = median_of(times, (size_t)blocks.count);
    free(times);
    return median;
}

bool is_past(const struct explorer *explorer, double moment_us)
{
    return explorer_is_out_of_time(explorer) ||
           root_says(explorer->task->comm, clock_us() > moment_us);
}
