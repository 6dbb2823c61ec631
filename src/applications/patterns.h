/* The communication that the applications are made of: point-to-point messages in the orders that
 * studies 003 and 004 describe, each message counted in the task. */
#ifndef SWITCHPOINT_PATTERNS_H
#define SWITCHPOINT_PATTERNS_H

#include <stddef.h>

#include "engine.h"

/* What of a buffer belongs to one rank. Arrays of parts have one for each rank; what a rank sends
 * and what the other receives have the same length, which may be 0. */
struct part {
    size_t offset; /* in bytes */
    size_t bytes;
};

/* Items in contiguous shares that differ by one at most, the larger ones first. */
long share_start(long items, int ranks, int rank);
long share_count(long items, int ranks, int rank);
void even_parts(struct part *parts, long items, size_t item_bytes, int ranks);

/* One message; the others in this file are made of these. */
void send_to(const struct task *t, const void *data, size_t bytes, int rank);
void receive_from(const struct task *t, void *data, size_t bytes, int rank);

/* Collective. Rank 0 sends each rank its part of `whole`, one after the other, and copies its own;
 * each has it in `mine`. */
void deal(const struct task *t, const void *whole, const struct part *parts, void *mine);

/* Collective. The way back: rank 0 receives all parts into `whole`, rank after rank. */
void collect(const struct task *t, const void *mine, const struct part *parts, void *whole);

/* Collective. Before a `collect` of parts whose lengths only their owners know: tells rank 0, where
 * the parts then lie end to end; on each rank its own part has its length. */
void announce(const struct task *t, size_t mine_bytes, struct part *parts);

/* Collective. `root`'s data to all others down a binomial tree, as in kernel `broadcast`. */
void broadcast(const struct task *t, void *data, size_t bytes, int root);

/* Collective. A part of `out` for every rank, and from every rank one into `in`: to rank + 1 and
 * from rank - 1, then to rank + 2 and from rank - 2, ... as `shift` in kernel `alltoall`. */
void exchange(const struct task *t, const void *out, const struct part *to, void *in,
              const struct part *from);

#endif
