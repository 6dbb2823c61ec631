/* For collectives that leave one message of each rank with a receiver. */
#ifndef SWITCHPOINT_FROM_EACH_H
#define SWITCHPOINT_FROM_EACH_H

#include "kernel.h"

/* `arrival`: one message from each rank, this rank included, in their order. */
static inline bool arrival_from_each(const struct task *task, int index, struct arrival *arrival)
{
    const size_t bytes = (size_t)count_of(task);
    *arrival = (struct arrival){.offset = (size_t)index * bytes, .bytes = bytes, .sender = index};
    return index < task->ranks;
}

#endif
