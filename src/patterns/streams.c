/* Streams: windows of messages in flight within each pair. */
#include "streams.h"

#include "large_messages.h"
#include "pair.h"

enum { TAG = 1 };

const struct streaming WITH_ISEND = {isend_bytes};
const struct streaming WITH_ISSEND = {issend_bytes};

void run_stream(const struct task *t, long iterations)
{
    isend_function *const isend = ((const struct streaming *)t->variant)->isend;
    const int peer = peer_of(t);
    for (long i = 0; i < iterations; i++) {
        if (leads(t)) {
            for (int k = 0; k < t->window; k++) {
                MPI_CHECK(isend(t->send + slot_at(t, k), t->size_bytes, peer, TAG, t->comm,
                                &t->requests[k]));
            }
            MPI_CHECK(MPI_Waitall(t->window, t->requests, MPI_STATUSES_IGNORE));
            MPI_CHECK(MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, t->comm, MPI_STATUS_IGNORE));
        } else {
            for (int k = 0; k < t->window; k++) {
                MPI_CHECK(ireceive_bytes(t->receive + slot_at(t, k), t->size_bytes, peer, TAG,
                                         t->comm, &t->requests[k]));
            }
            MPI_CHECK(MPI_Waitall(t->window, t->requests, MPI_STATUSES_IGNORE));
            MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, t->comm));
        }
    }
}

size_t stream_bytes(const struct task *t)
{
    return slot_at(t, t->window - 1) + (size_t)t->size_bytes;
}

/* Counts the messages of all pairs, so that size over time is their bandwidth together. */
long stream_messages(const struct task *t)
{
    return (long)t->window * (t->ranks / 2);
}

/* Each message goes from a slot to the same slot. */
static struct arrival arrival_in_slot(const struct task *t, int index)
{
    const size_t slot = slot_at(t, index);
    return (struct arrival){
        .offset = slot, .bytes = (size_t)t->size_bytes, .sender = peer_of(t), .sent_offset = slot};
}

bool arrival_stream(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = arrival_in_slot(t, index);
    return !leads(t) && index < t->window;
}

void run_bistream(const struct task *t, long iterations)
{
    const int peer = peer_of(t);
    MPI_Request *sends = t->requests + t->window;
    for (long i = 0; i < iterations; i++) {
        for (int k = 0; k < t->window; k++) {
            MPI_CHECK(ireceive_bytes(t->receive + slot_at(t, k), t->size_bytes, peer, TAG, t->comm,
                                     &t->requests[k]));
        }
        for (int k = 0; k < t->window; k++) {
            MPI_CHECK(
                isend_bytes(t->send + slot_at(t, k), t->size_bytes, peer, TAG, t->comm, &sends[k]));
        }
        /* Apart, as osu_bibw does: one wait for both takes less time with small messages. */
        MPI_CHECK(MPI_Waitall(t->window, sends, MPI_STATUSES_IGNORE));
        MPI_CHECK(MPI_Waitall(t->window, t->requests, MPI_STATUSES_IGNORE));
    }
}

size_t bistream_requests(const struct task *t)
{
    return 2 * (size_t)t->window;
}

long bistream_messages(const struct task *t)
{
    return 2 * stream_messages(t);
}

bool arrival_bistream(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = arrival_in_slot(t, index);
    return index < t->window;
}
