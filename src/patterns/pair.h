/* Pairs of ranks. Of n ranks, i and i + n/2 are a pair: the lower one leads, the higher one
 * answers, and all pairs do so at the same time. */
#ifndef SWITCHPOINT_PAIR_H
#define SWITCHPOINT_PAIR_H

#include <stdbool.h>

#include "task.h"

static inline bool leads(const struct task *t)
{
    return t->rank < t->ranks / 2;
}

static inline int peer_of(const struct task *t)
{
    return leads(t) ? t->rank + t->ranks / 2 : t->rank - t->ranks / 2;
}

/* Messages in flight must not overlap: each has a slot of its own, which starts on a cache line.
 * Returns the offset of a slot. */
static inline size_t slot_at(const struct task *t, int index)
{
    enum { CACHE_LINE = 64 };
    const size_t lines = ((size_t)t->size_bytes + CACHE_LINE - 1) / CACHE_LINE;
    return (size_t)index * lines * CACHE_LINE;
}

#endif
