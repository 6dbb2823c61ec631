/* Round trips of one message within each pair, and exchanges of one message each way. */
#include "round_trips.h"

#include <limits.h>

#include "pair.h"

enum { TAG = 1 };

static int isend_and_wait(const void *message, int count, MPI_Datatype type, int to, int tag,
                          MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int sent = MPI_Isend(message, count, type, to, tag, comm, &request);
    const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return sent != MPI_SUCCESS ? sent : waited;
}

const struct sending WITH_SEND = {MPI_Send};
const struct sending WITH_SSEND = {MPI_Ssend};
const struct sending WITH_BSEND = {MPI_Bsend};
const struct sending WITH_ISEND_AND_WAIT = {isend_and_wait};

void run_ping_pong(const struct task *t, long iterations)
{
    send_function *const send = ((const struct sending *)t->variant)->send;
    const int peer = peer_of(t);
    if (leads(t)) {
        for (long i = 0; i < iterations; i++) {
            MPI_CHECK(send(sent(t, i), t->size_bytes, MPI_BYTE, peer, TAG, t->comm));
            MPI_CHECK(MPI_Recv(received(t, i), t->size_bytes, MPI_BYTE, peer, TAG, t->comm,
                               MPI_STATUS_IGNORE));
        }
    } else {
        for (long i = 0; i < iterations; i++) {
            MPI_CHECK(MPI_Recv(received(t, i), t->size_bytes, MPI_BYTE, peer, TAG, t->comm,
                               MPI_STATUS_IGNORE));
            MPI_CHECK(send(sent(t, i), t->size_bytes, MPI_BYTE, peer, TAG, t->comm));
        }
    }
}

void run_resend(const struct task *t, long iterations)
{
    const int peer = peer_of(t);
    for (long i = 0; i < iterations; i++) {
        if (leads(t)) {
            const unsigned char *message = t->turn + i == 0 ? t->send : t->receive;
            MPI_CHECK(MPI_Send(message, t->size_bytes, MPI_BYTE, peer, TAG, t->comm));
        }
        MPI_CHECK(MPI_Recv(t->receive, t->size_bytes, MPI_BYTE, peer, TAG, t->comm,
                           MPI_STATUS_IGNORE));
        if (!leads(t)) {
            MPI_CHECK(MPI_Send(t->receive, t->size_bytes, MPI_BYTE, peer, TAG, t->comm));
        }
    }
}

bool arrival_from_leader(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)t->size_bytes,
                                .sender = leads(t) ? t->rank : peer_of(t)};
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
            MPI_CHECK(
                MPI_Irecv(received(t, i), t->size_bytes, MPI_BYTE, peer, TAG, t->comm, posted));
            MPI_CHECK(MPI_Rsend(sent(t, i), t->size_bytes, MPI_BYTE, peer, TAG, t->comm));
            MPI_CHECK(MPI_Wait(posted, MPI_STATUS_IGNORE));
        } else {
            if (i == 0) {
                MPI_CHECK(
                    MPI_Irecv(received(t, i), t->size_bytes, MPI_BYTE, peer, TAG, t->comm, posted));
                MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, t->comm));
            }
            MPI_CHECK(MPI_Wait(posted, MPI_STATUS_IGNORE));
            if (i + 1 < iterations) {
                MPI_CHECK(MPI_Irecv(received(t, i + 1), t->size_bytes, MPI_BYTE, peer, TAG, t->comm,
                                    posted));
            }
            MPI_CHECK(MPI_Rsend(sent(t, i), t->size_bytes, MPI_BYTE, peer, TAG, t->comm));
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
    MPI_CHECK(MPI_Send_init(t->send, t->size_bytes, MPI_BYTE, peer, TAG, t->comm, &t->requests[0]));
    MPI_CHECK(
        MPI_Recv_init(t->receive, t->size_bytes, MPI_BYTE, peer, TAG, t->comm, &t->requests[1]));
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
        MPI_CHECK(MPI_Sendrecv(sent(t, i), t->size_bytes, MPI_BYTE, peer, TAG, received(t, i),
                               t->size_bytes, MPI_BYTE, peer, TAG, t->comm, MPI_STATUS_IGNORE));
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
           refuse(refusal, "--sizes: mode bsend takes messages of up to %d bytes; leave out %d",
                  BUFFERED_MAX_BYTES, t->size_bytes);
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
