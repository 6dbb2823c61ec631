/* Ping-pong: what one message between two ranks costs, alone and in a stream.
 * Rank 0 sends, rank 1 answers. */
#include "engine.h"

enum { TAG = 1, CACHE_LINE = 64 };

/* MPI_Send and MPI_Ssend, so that one text serves both. */
typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static inline void ping_pong(const struct task *t, long iterations, send_function *send)
{
    if (t->rank == 0) {
        for (long i = 0; i < iterations; i++) {
            MPI_CHECK(send(t->send, t->size_bytes, MPI_BYTE, 1, TAG, t->comm));
            MPI_CHECK(
                MPI_Recv(t->receive, t->size_bytes, MPI_BYTE, 1, TAG, t->comm, MPI_STATUS_IGNORE));
        }
    } else {
        for (long i = 0; i < iterations; i++) {
            MPI_CHECK(
                MPI_Recv(t->receive, t->size_bytes, MPI_BYTE, 0, TAG, t->comm, MPI_STATUS_IGNORE));
            MPI_CHECK(send(t->send, t->size_bytes, MPI_BYTE, 0, TAG, t->comm));
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

static long two_messages(const struct task *t)
{
    (void)t;
    return 2;
}

/* Each rank receives one message from the other. */
static bool arrival_ping_pong(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)t->size_bytes, .sender = 1 - t->rank};
    return index == 0;
}

/* Receives in flight must not overlap: each has a slot of its own. */
static size_t slot(const struct task *t, int index)
{
    const size_t lines = ((size_t)t->size_bytes + CACHE_LINE - 1) / CACHE_LINE;
    return (size_t)index * lines * CACHE_LINE;
}

static inline void stream(const struct task *t, long iterations, isend_function *isend)
{
    for (long i = 0; i < iterations; i++) {
        if (t->rank == 0) {
            for (int k = 0; k < t->window; k++) {
                MPI_CHECK(
                    isend(t->send, t->size_bytes, MPI_BYTE, 1, TAG, t->comm, &t->requests[k]));
            }
            MPI_CHECK(MPI_Waitall(t->window, t->requests, MPI_STATUSES_IGNORE));
            MPI_CHECK(MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, t->comm, MPI_STATUS_IGNORE));
        } else {
            for (int k = 0; k < t->window; k++) {
                MPI_CHECK(MPI_Irecv(t->receive + slot(t, k), t->size_bytes, MPI_BYTE, 0, TAG,
                                    t->comm, &t->requests[k]));
            }
            MPI_CHECK(MPI_Waitall(t->window, t->requests, MPI_STATUSES_IGNORE));
            MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, t->comm));
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

static long one_window(const struct task *t)
{
    return t->window;
}

/* Rank 1 receives the window; the acknowledgement is empty. */
static bool arrival_stream(const struct task *t, int index, struct arrival *arrival)
{
    *arrival =
        (struct arrival){.offset = slot(t, index), .bytes = (size_t)t->size_bytes, .sender = 0};
    return t->rank == 1 && index < t->window;
}

static const struct mode MODES[] = {
    {.name = "send",
     .summary = "MPI_Send and MPI_Recv to and fro; time_us: half a round trip",
     .source = "NetPIPE (Snell, Mikler, Gustafson 1996); osu_latency; IMB PingPong",
     .run = run_send,
     .messages = two_messages,
     .arrival = arrival_ping_pong},
    {.name = "ssend",
     .summary = "the same with MPI_Ssend, which always waits for the receiver",
     .source = "NetPIPE -S",
     .run = run_ssend,
     .messages = two_messages,
     .arrival = arrival_ping_pong},
    {.name = "stream",
     .summary = "a window of MPI_Isend, one empty acknowledgement; time_us: window over messages",
     .source = "osu_bw, but with a receive buffer for each message in flight",
     .run = run_stream,
     .messages = one_window,
     .arrival = arrival_stream},
    {.name = "sstream",
     .summary = "the same with MPI_Issend",
     .source = "stream, with synchronous sends",
     .run = run_sstream,
     .messages = one_window,
     .arrival = arrival_stream},
    {0},
};

static const struct kernel PINGPONG = {
    .name = "pingpong",
    .summary = "what one message between two ranks costs, alone and in a stream",
    .ranks_min = 2,
    .ranks_max = 2,
    .timing = TIME_AT_ROOT,
    .modes = MODES,
};

int main(int argc, char **argv)
{
    return engine_main(argc, argv, &PINGPONG);
}
