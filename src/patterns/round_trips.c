/* Round trips of one message within each pair, and exchanges of one message each way. */
#include "round_trips.h"

#include <limits.h>

#include "large_messages.h"
#include "pair.h"

enum { TAG = 1 };

static int isend_and_wait(const void *message, int64_t bytes, int to, int tag, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int sent = isend_bytes(message, bytes, to, tag, comm, &request);
    const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return sent != MPI_SUCCESS ? sent : waited;
}

/* Its buffer is smaller than an int: see `suits_bsend`. */
static int bsend_bytes(const void *message, int64_t bytes, int to, int tag, MPI_Comm comm)
{
    return MPI_Bsend(message, (int)bytes, MPI_BYTE, to, tag, comm);
}

const struct sending WITH_SEND = {send_bytes};
const struct sending WITH_SSEND = {ssend_bytes};
const struct sending WITH_BSEND = {bsend_bytes};
const struct sending WITH_ISEND_AND_WAIT = {isend_and_wait};

void run_ping_pong(const struct task *t, long iterations)
{
    send_function *const send = ((const struct sending *)t->variant)->send;
    const int peer = peer_of(t);
    if (leads(t)) {
        for (long i = 0; i < iterations; i++) {
            MPI_CHECK(send(sent(t, i), t->size_bytes, peer, TAG, t->comm));
            MPI_CHECK(receive_bytes(received(t, i), t->size_bytes, peer, TAG, t->comm));
        }
    } else {
        for (long i = 0; i < iterations; i++) {
            MPI_CHECK(receive_bytes(received(t, i), t->size_bytes, peer, TAG, t->comm));
            MPI_CHECK(send(sent(t, i), t->size_bytes, peer, TAG, t->comm));
        }
    }
}

void run_resend(const struct task *t, long iterations)
{
    const int peer = peer_of(t);
    for (long i = 0; i < iterations; i++) {
        if (leads(t)) {
            const unsigned char *message = t->turn + i == 0 ? t->send : t->receive;
            MPI_CHECK(send_bytes(message, t->size_bytes, peer, TAG, t->comm));
        }
        MPI_CHECK(receive_bytes(t->receive, t->size_bytes, peer, TAG, t->comm));
        if (!leads(t)) {
            MPI_CHECK(send_bytes(t->receive, t->size_bytes, peer, TAG, t->comm));
        }
    }
}

bool arrival_from_leader(const struct task *t, int index, struct arrival *arrival)
{
    *arrival =
        (struct arrival){.bytes = (size_t)t->size_bytes, .sender = leads(t) ? t->rank : peer_of(t)};
    return index == 0;
}

/* A rank posts its next receive before it sends the message for which the peer waits, so that each
 * ready send finds its receive posted. An empty message announces the first receive of a block. */
void run_rsend(const struct task *t, long iterations)
{
    const int peer = peer_of(t);
    MPI_Request *posted = &t->requests[0];
    for (long i = 0; i < iterations; i++) {
        if (leads(t)) {
            if (i == 0) {
                MPI_CHECK(MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, t->comm, MPI_STATUS_IGNORE));
            }
            MPI_CHECK(ireceive_bytes(received(t, i), t->size_bytes, peer, TAG, t->comm, posted));
            MPI_CHECK(rsend_bytes(sent(t, i), t->size_bytes, peer, TAG, t->comm));
            MPI_CHECK(MPI_Wait(posted, MPI_STATUS_IGNORE));
        } else {
            if (i == 0) {
                MPI_CHECK(
                    ireceive_bytes(received(t, i), t->size_bytes, peer, TAG, t->comm, posted));
                MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, t->comm));
            }
            MPI_CHECK(MPI_Wait(posted, MPI_STATUS_IGNORE));
            if (i + 1 < iterations) {
                MPI_CHECK(
                    ireceive_bytes(received(t, i + 1), t->size_bytes, peer, TAG, t->comm, posted));
            }
            MPI_CHECK(rsend_bytes(sent(t, i), t->size_bytes, peer, TAG, t->comm));
        }
    }
}

/* One send and one receive. */
size_t persistent_requests(const struct task *t)
{
    (void)t;
    return 2;
}

void init_requests(const struct task *t)
{
    const int peer = peer_of(t);
    MPI_CHECK(send_init_bytes(t->send, t->size_bytes, peer, TAG, t->comm, &t->requests[0]));
    MPI_CHECK(receive_init_bytes(t->receive, t->size_bytes, peer, TAG, t->comm, &t->requests[1]));
}

void free_requests(const struct task *t)
{
    MPI_CHECK(MPI_Request_free(&t->requests[0]));
    MPI_CHECK(MPI_Request_free(&t->requests[1]));
}

/* The rank that leads starts with its send, the other with its receive. */
void run_persistent(const struct task *t, long iterations)
{
    MPI_Request *first = &t->requests[leads(t) ? 0 : 1];
    MPI_Request *second = &t->requests[leads(t) ? 1 : 0];
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Start(first));
        MPI_CHECK(MPI_Wait(first, MPI_STATUS_IGNORE));
        MPI_CHECK(MPI_Start(second));
        MPI_CHECK(MPI_Wait(second, MPI_STATUS_IGNORE));
    }
}

void run_sendrecv(const struct task *t, long iterations)
{
    const int peer = peer_of(t);
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(exchange_bytes(sent(t, i), received(t, i), t->size_bytes, peer, TAG, t->comm));
    }
}

/* The peer's answer proves that a message has arrived, but the library may not have freed its place
 * in the buffer yet. So there is room for more than one. */
enum { BUFFERED_MESSAGES = 4 };
static const int BUFFERED_MAX_BYTES = INT_MAX / BUFFERED_MESSAGES - MPI_BSEND_OVERHEAD;

static size_t buffered_bytes(const struct task *t)
{
    return BUFFERED_MESSAGES * ((size_t)t->size_bytes + MPI_BSEND_OVERHEAD);
}

size_t message_and_buffer(const struct task *t)
{
    return slot_at(t, 1) + buffered_bytes(t);
}

bool suits_bsend(const struct task *t, struct refusal *refusal)
{
    return t->size_bytes <= BUFFERED_MAX_BYTES ||
           refuse(refusal, "--sizes: mode bsend takes messages of up to %d bytes; leave out %lld",
                  BUFFERED_MAX_BYTES, (long long)t->size_bytes);
}

void attach_buffer(const struct task *t)
{
    MPI_CHECK(MPI_Buffer_attach(t->send + slot_at(t, 1), (int)buffered_bytes(t)));
}

void detach_buffer(const struct task *t)
{
    (void)t;
    void *buffer = NULL;
    int bytes = 0;
    MPI_CHECK(MPI_Buffer_detach((void *)&buffer, &bytes));
}

long two_messages(const struct task *t)
{
    (void)t;
    return 2;
}

bool arrival_from_peer(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)t->size_bytes, .sender = peer_of(t)};
    return index == 0;
}
