/* The ways in which MPI brings a message from one rank of a pair to the other. Of n ranks, i and
 * i + n/2 are a pair: the lower one sends, the higher one answers; all pairs do so at once. */
#include "pair_modes.h"

#include <limits.h>

enum { TAG = 1, CACHE_LINE = 64 };

/* MPI_Send and MPI_Ssend, so that one text serves both. */
typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static bool leads(const struct task *t)
{
    return t->rank < t->ranks / 2;
}

static int peer_of(const struct task *t)
{
    return leads(t) ? t->rank + t->ranks / 2 : t->rank - t->ranks / 2;
}

/* What is in flight must not overlap: each message has a slot of its own. */
static size_t slot(const struct task *t, int index)
{
    const size_t lines = ((size_t)t->size_bytes + CACHE_LINE - 1) / CACHE_LINE;
    return (size_t)index * lines * CACHE_LINE;
}

static inline void ping_pong(const struct task *t, long iterations, send_function *send)
{
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

static void run_send(const struct task *t, long iterations)
{
    ping_pong(t, iterations, MPI_Send);
}

static void run_ssend(const struct task *t, long iterations)
{
    ping_pong(t, iterations, MPI_Ssend);
}

static int isend_and_wait(const void *message, int count, MPI_Datatype type, int to, int tag,
                          MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int sent = MPI_Isend(message, count, type, to, tag, comm, &request);
    const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return sent != MPI_SUCCESS ? sent : waited;
}

static void run_isend(const struct task *t, long iterations)
{
    ping_pong(t, iterations, isend_and_wait);
}

/* The peer's answer proves that a message has arrived, not that the library has already noticed and
 * freed its place in the buffer: there is room for some more. */
enum { BUFFERED_MESSAGES = 4 };
static const int BUFFERED_MAX_BYTES = INT_MAX / BUFFERED_MESSAGES - MPI_BSEND_OVERHEAD;

static size_t buffered_bytes(const struct task *t)
{
    return BUFFERED_MESSAGES * ((size_t)t->size_bytes + MPI_BSEND_OVERHEAD);
}

/* The message, and behind it the buffer of MPI_Bsend. */
static size_t message_and_buffer(const struct task *t)
{
    return slot(t, 1) + buffered_bytes(t);
}

static bool suits_bsend(const struct task *t, struct refusal *refusal)
{
    return t->size_bytes <= BUFFERED_MAX_BYTES ||
           refuse(refusal, "--sizes: mode bsend takes messages of up to %d bytes; leave out %d",
                  BUFFERED_MAX_BYTES, t->size_bytes);
}

static void attach_buffer(const struct task *t)
{
    MPI_CHECK(MPI_Buffer_attach(t->send + slot(t, 1), (int)buffered_bytes(t)));
}

static void detach_buffer(const struct task *t)
{
    (void)t;
    void *buffer = NULL;
    int bytes = 0;
    MPI_CHECK(MPI_Buffer_detach((void *)&buffer, &bytes));
}

static void run_bsend(const struct task *t, long iterations)
{
    ping_pong(t, iterations, MPI_Bsend);
}

/* A rank posts its next receive before it sends the message that lets the peer go on, so that each
 * ready send finds its receive posted; an empty message announces the first one of a block. */
static void run_rsend(const struct task *t, long iterations)
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

/* One persistent send and one persistent receive. */
static size_t two_requests(const struct task *t)
{
    (void)t;
    return 2;
}

static void init_requests(const struct task *t)
{
    const int peer = peer_of(t);
    MPI_CHECK(MPI_Send_init(t->send, t->size_bytes, MPI_BYTE, peer, TAG, t->comm, &t->requests[0]));
    MPI_CHECK(
        MPI_Recv_init(t->receive, t->size_bytes, MPI_BYTE, peer, TAG, t->comm, &t->requests[1]));
}

static void free_requests(const struct task *t)
{
    MPI_CHECK(MPI_Request_free(&t->requests[0]));
    MPI_CHECK(MPI_Request_free(&t->requests[1]));
}

/* The one starts with its send, the other with its receive. */
static void run_persistent(const struct task *t, long iterations)
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

static void run_sendrecv(const struct task *t, long iterations)
{
    const int peer = peer_of(t);
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Sendrecv(sent(t, i), t->size_bytes, MPI_BYTE, peer, TAG, received(t, i),
                               t->size_bytes, MPI_BYTE, peer, TAG, t->comm, MPI_STATUS_IGNORE));
    }
}

static long two_messages(const struct task *t)
{
    (void)t;
    return 2;
}

/* Each rank receives one message from the other. */
static bool arrival_ping_pong(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)t->size_bytes, .sender = peer_of(t)};
    return index == 0;
}

static inline void stream(const struct task *t, long iterations, isend_function *isend)
{
    const int peer = peer_of(t);
    for (long i = 0; i < iterations; i++) {
        if (leads(t)) {
            for (int k = 0; k < t->window; k++) {
                MPI_CHECK(
                    isend(t->send, t->size_bytes, MPI_BYTE, peer, TAG, t->comm, &t->requests[k]));
            }
            MPI_CHECK(MPI_Waitall(t->window, t->requests, MPI_STATUSES_IGNORE));
            MPI_CHECK(MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, t->comm, MPI_STATUS_IGNORE));
        } else {
            for (int k = 0; k < t->window; k++) {
                MPI_CHECK(MPI_Irecv(t->receive + slot(t, k), t->size_bytes, MPI_BYTE, peer, TAG,
                                    t->comm, &t->requests[k]));
            }
            MPI_CHECK(MPI_Waitall(t->window, t->requests, MPI_STATUSES_IGNORE));
            MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, t->comm));
        }
    }
}

static void run_stream(const struct task *t, long iterations)
{
    stream(t, iterations, MPI_Isend);
}

static void run_sstream(const struct task *t, long iterations)
{
    stream(t, iterations, MPI_Issend);
}

/* Of all pairs together, so that size over time is their bandwidth. */
static long windows(const struct task *t)
{
    return (long)t->window * (t->ranks / 2);
}

/* The higher rank receives the window; the acknowledgement is empty. */
static bool arrival_stream(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){
        .offset = slot(t, index), .bytes = (size_t)t->size_bytes, .sender = peer_of(t)};
    return !leads(t) && index < t->window;
}

static void run_bistream(const struct task *t, long iterations)
{
    const int peer = peer_of(t);
    MPI_Request *sends = t->requests + t->window;
    for (long i = 0; i < iterations; i++) {
        for (int k = 0; k < t->window; k++) {
            MPI_CHECK(MPI_Irecv(t->receive + slot(t, k), t->size_bytes, MPI_BYTE, peer, TAG,
                                t->comm, &t->requests[k]));
        }
        for (int k = 0; k < t->window; k++) {
            MPI_CHECK(MPI_Isend(t->send, t->size_bytes, MPI_BYTE, peer, TAG, t->comm, &sends[k]));
        }
        MPI_CHECK(MPI_Waitall(2 * t->window, t->requests, MPI_STATUSES_IGNORE));
    }
}

static size_t two_windows_of_requests(const struct task *t)
{
    return 2 * (size_t)t->window;
}

static long windows_both_ways(const struct task *t)
{
    return 2 * windows(t);
}

/* Each rank receives a window. */
static bool arrival_bistream(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){
        .offset = slot(t, index), .bytes = (size_t)t->size_bytes, .sender = peer_of(t)};
    return index < t->window;
}

const struct mode PAIR_MODES[] = {
    {.name = "send",
     .summary = "MPI_Send and MPI_Recv to and fro; time_us: half a round trip",
     .source = "NetPIPE (Snell, Mikler, Gustafson 1996); osu_latency; IMB PingPong",
     .run = run_send,
     .messages = two_messages,
     .arrival = arrival_ping_pong,
     .rotates = true},
    {.name = "ssend",
     .summary = "the same with MPI_Ssend, which always waits for the receiver",
     .source = "NetPIPE -S",
     .run = run_ssend,
     .messages = two_messages,
     .arrival = arrival_ping_pong,
     .rotates = true},
    {.name = "isend",
     .summary = "the same with MPI_Isend and MPI_Wait in place of MPI_Send",
     .source = "send, with nonblocking sends",
     .run = run_isend,
     .messages = two_messages,
     .arrival = arrival_ping_pong,
     .rotates = true},
    {.name = "bsend",
     .summary = "the same with MPI_Bsend, which copies into a buffer of ours",
     .source = "send, with buffered sends",
     .run = run_bsend,
     .messages = two_messages,
     .arrival = arrival_ping_pong,
     .send_bytes = message_and_buffer,
     .suits = suits_bsend,
     .prepare = attach_buffer,
     .release = detach_buffer},
    {.name = "rsend",
     .summary = "the same with MPI_Rsend, each to a receive known to be posted",
     .source = "MPI 3.1, 3.4: ready mode",
     .run = run_rsend,
     .messages = two_messages,
     .arrival = arrival_ping_pong,
     .rotates = true},
    {.name = "persistent",
     .summary = "the same with requests made once and started each time",
     .source = "MPI 3.1, 3.9: persistent communication requests",
     .run = run_persistent,
     .messages = two_messages,
     .arrival = arrival_ping_pong,
     .requests = two_requests,
     .prepare = init_requests,
     .release = free_requests},
    {.name = "sendrecv",
     .summary = "both at once with MPI_Sendrecv; time_us: half an exchange",
     .source = "IMB Sendrecv with two ranks",
     .run = run_sendrecv,
     .messages = two_messages,
     .arrival = arrival_ping_pong,
     .rotates = true},
    {.name = "stream",
     .summary = "a window of MPI_Isend, one empty acknowledgement; time_us: window over messages",
     .source = "osu_bw, but with a receive buffer for each message in flight",
     .run = run_stream,
     .messages = windows,
     .arrival = arrival_stream},
    {.name = "sstream",
     .summary = "the same with MPI_Issend",
     .source = "stream, with synchronous sends",
     .run = run_sstream,
     .messages = windows,
     .arrival = arrival_stream},
    {.name = "bistream",
     .summary = "a window of MPI_Isend each way at once; time_us: both windows over messages",
     .source = "osu_bibw, but with a receive buffer for each message in flight",
     .run = run_bistream,
     .messages = windows_both_ways,
     .arrival = arrival_bistream,
     .requests = two_windows_of_requests},
    {0},
};
