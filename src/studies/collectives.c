/* The communication of the applications: point-to-point messages, each of them counted. */
#include "collectives.h"

#include <string.h>

#include "abort_job.h"
#include "exit_codes.h"
#include "mpi_check.h"
#include "shift.h"
#include "tree.h"

enum { TAG = 1 };

long share_start(long items, int ranks, int rank)
{
    const long larger = items % ranks;
    return items / ranks * rank + (rank < larger ? rank : larger);
}

long share_count(long items, int ranks, int rank)
{
    return share_start(items, ranks, rank + 1) - share_start(items, ranks, rank);
}

void even_parts(struct part *parts, long items, size_t item_bytes, int ranks)
{
    for (int rank = 0; rank < ranks; rank++) {
        parts[rank] = (struct part){(size_t)share_start(items, ranks, rank) * item_bytes,
                                    (size_t)share_count(items, ranks, rank) * item_bytes};
    }
}

void send_to(const struct task *t, const void *data, size_t bytes, int rank)
{
    MPI_CHECK(MPI_Send(data, (int)bytes, MPI_BYTE, rank, TAG, t->comm));
    count_sent(t, bytes, rank);
}

void receive_from(const struct task *t, void *data, size_t bytes, int rank)
{
    MPI_CHECK(MPI_Recv(data, (int)bytes, MPI_BYTE, rank, TAG, t->comm, MPI_STATUS_IGNORE));
}

static const unsigned char *sent_part(const void *buffer, struct part part)
{
    return (const unsigned char *)buffer + part.offset;
}

static unsigned char *received_part(void *buffer, struct part part)
{
    return (unsigned char *)buffer + part.offset;
}

void deal(const struct task *t, const void *whole, const struct part *parts, void *mine)
{
    if (t->rank > 0) {
        receive_from(t, mine, parts[t->rank].bytes, 0);
        return;
    }
    for (int rank = 1; rank < t->ranks; rank++) {
        send_to(t, sent_part(whole, parts[rank]), parts[rank].bytes, rank);
    }
    memcpy(mine, sent_part(whole, parts[0]), parts[0].bytes);
}

void collect(const struct task *t, const void *mine, const struct part *parts, void *whole)
{
    if (t->rank > 0) {
        send_to(t, mine, parts[t->rank].bytes, 0);
        return;
    }
    memcpy(received_part(whole, parts[0]), mine, parts[0].bytes);
    for (int rank = 1; rank < t->ranks; rank++) {
        receive_from(t, received_part(whole, parts[rank]), parts[rank].bytes, rank);
    }
}

void announce(const struct task *t, size_t mine_bytes, struct part *parts, size_t room)
{
    parts[t->rank] = (struct part){.bytes = mine_bytes};
    if (t->rank > 0) {
        send_to(t, &mine_bytes, sizeof mine_bytes, 0);
        return;
    }
    for (int rank = 1; rank < t->ranks; rank++) {
        parts[rank].offset = parts[rank - 1].offset + parts[rank - 1].bytes;
        receive_from(t, &parts[rank].bytes, sizeof parts[rank].bytes, rank);
        if (parts[rank].bytes > room || parts[rank].offset > room - parts[rank].bytes) {
            arrived_wrong(t, "the length of a result");
        }
    }
}

_Noreturn void arrived_wrong(const struct task *t, const char *what)
{
    abort_job(MPI_COMM_WORLD, EXIT_WRONG,
              "switchpoint: payload error: rank %d: %s arrived with an impossible value; the MPI "
              "library or the network changed it",
              t->rank, what);
}

void broadcast(const struct task *t, void *data, size_t bytes, int root)
{
    const int place = shifted(t->rank, t->ranks, -root); /* in the tree */
    if (place > 0) {
        const int parent = BINOMIAL.parent(place, t->ranks);
        receive_from(t, data, bytes, shifted(parent, t->ranks, root));
    }
    for (int k = 0, child = 0; (child = BINOMIAL.child(place, t->ranks, k)) < t->ranks; k++) {
        send_to(t, data, bytes, shifted(child, t->ranks, root));
    }
}

void exchange(const struct task *t, const void *out, const struct part *to, void *in,
              const struct part *from)
{
    memcpy(received_part(in, from[t->rank]), sent_part(out, to[t->rank]), to[t->rank].bytes);
    for (int step = 1; step < t->ranks; step++) {
        const int next = shifted(t->rank, t->ranks, step);
        const int last = shifted(t->rank, t->ranks, -step);
        MPI_CHECK(MPI_Sendrecv(sent_part(out, to[next]), (int)to[next].bytes, MPI_BYTE, next, TAG,
                               received_part(in, from[last]), (int)from[last].bytes, MPI_BYTE, last,
                               TAG, t->comm, MPI_STATUS_IGNORE));
        count_sent(t, to[next].bytes, next);
    }
}
