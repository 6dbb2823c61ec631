/* The communication that the applications are made of: point-to-point messages, each counted. */
#include "patterns.h"

#include <string.h>

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

static void count(const struct task *t, size_t bytes, int rank)
{
    t->sent[rank].messages++;
    t->sent[rank].bytes += (int64_t)bytes;
}

void send_to(const struct task *t, const void *data, size_t bytes, int rank)
{
    MPI_CHECK(MPI_Send(data, (int)bytes, MPI_BYTE, rank, TAG, t->comm));
    count(t, bytes, rank);
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

void announce(const struct task *t, size_t mine_bytes, struct part *parts)
{
    parts[t->rank] = (struct part){.bytes = mine_bytes};
    if (t->rank > 0) {
        send_to(t, &mine_bytes, sizeof mine_bytes, 0);
        return;
    }
    for (int rank = 1; rank < t->ranks; rank++) {
        parts[rank].offset = parts[rank - 1].offset + parts[rank - 1].bytes;
        receive_from(t, &parts[rank].bytes, sizeof parts[rank].bytes, rank);
    }
}

void broadcast(const struct task *t, void *data, size_t bytes, int root)
{
    const int place = (t->rank - root + t->ranks) % t->ranks; /* in the tree */
    int reach = 1;
    while (reach < t->ranks && (place & reach) == 0) {
        reach *= 2;
    }
    if (place > 0) {
        receive_from(t, data, bytes, (place - reach + root) % t->ranks);
    }
    for (reach /= 2; reach > 0; reach /= 2) {
        if (place + reach < t->ranks) {
            send_to(t, data, bytes, (place + reach + root) % t->ranks);
        }
    }
}

void exchange(const struct task *t, const void *out, const struct part *to, void *in,
              const struct part *from)
{
    memcpy(received_part(in, from[t->rank]), sent_part(out, to[t->rank]), to[t->rank].bytes);
    for (int step = 1; step < t->ranks; step++) {
        const int next = (t->rank + step) % t->ranks;
        const int last = (t->rank - step + t->ranks) % t->ranks;
        MPI_CHECK(MPI_Sendrecv(sent_part(out, to[next]), (int)to[next].bytes, MPI_BYTE, next, TAG,
                               received_part(in, from[last]), (int)from[last].bytes, MPI_BYTE, last,
                               TAG, t->comm, MPI_STATUS_IGNORE));
        count(t, to[next].bytes, next);
    }
}
