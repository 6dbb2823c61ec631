/* The communication of the applications: point-to-point messages in the orders that studies 003 and
 * 004 describe. Each message is counted in the task. */
#ifndef SWITCHPOINT_COLLECTIVES_H
#define SWITCHPOINT_COLLECTIVES_H

#include <stddef.h>

#include "task.h"

/* The part of a buffer that belongs to one rank. Arrays of parts have one part for each rank. The
 * part that a rank sends and the part into which the other receives have the same length, which may
 * be 0.
 */
struct part {
    size_t offset; /* in bytes */
    size_t bytes;
};

/* Contiguous shares of items. They differ by at most one item; the larger ones come first. */
long share_start(long items, int ranks, int rank);
long share_count(long items, int ranks, int rank);
void even_parts(struct part *parts, long items, size_t item_bytes, int ranks);

/* One message; the functions below consist of these. */
void send_to(const struct task *t, const void *data, size_t bytes, int rank);
void receive_from(const struct task *t, void *data, size_t bytes, int rank);

/* Collective. Rank 0 sends each rank its part of `whole`, one after the other, and copies its own
 * part. On each rank the part is then in `mine`. */
void deal(const struct task *t, const void *whole, const struct part *parts, void *mine);

/* Collective. The opposite of `deal`: rank 0 receives all parts into `whole`, rank after rank. */
void collect(const struct task *t, const void *mine, const struct part *parts, void *whole);

/* Collective. For a `collect` of parts whose lengths only their owners know. Sets the length of
 * this rank's part, and on rank 0 all parts, end to end. Ends the job if they exceed `room`. */
void announce(const struct task *t, size_t mine_bytes, struct part *parts, size_t room);

/* Ends the job, because `what` arrived with a value that no rank sends: where a program uses what
 * arrives as a place or a length, it must not be believed. */
_Noreturn void arrived_wrong(const struct task *t, const char *what);

/* Collective. Sends `root`'s data to all others down a binomial tree, as mode `binomial` of kernel
 * `broadcast` does. */
void broadcast(const struct task *t, void *data, size_t bytes, int root);

/* Collective. Sends a part of `out` to every rank, and receives one from every rank into `in`: to
 * rank + 1 and from rank - 1, then to rank + 2 and from rank - 2, and so on, as mode `shift` of
 * kernel `alltoall` does. */
void exchange(const struct task *t, const void *out, const struct part *to, void *in,
              const struct part *from);

#endif
