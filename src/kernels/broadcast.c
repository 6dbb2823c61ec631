/* Broadcast: what it costs to bring rank 0's message to all others, by tree and by library. */
#include <limits.h>

#include "kernel.h"
#include "replacement.h"
#include "shift.h"
#include "tree.h"

enum { TAG = 1, TAG_ACKNOWLEDGEMENT = 2 };

struct settings {
    long segment_bytes;
};

/* The `variant` of the modes that send along a tree. */
struct along {
    void (*pass_on)(const struct task *, const struct tree *);
    const struct tree *tree;
    bool acknowledged;
};

/* The message that a rank passes on. */
static unsigned char *message(const struct task *t)
{
    return t->rank == 0 ? t->send : t->receive;
}

/* Whole messages, to each child in turn. */
static void send_down(const struct task *t, const struct tree *tree)
{
    if (t->rank > 0) {
        MPI_CHECK(MPI_Recv(t->receive, count_of(t), MPI_BYTE, tree->parent(t->rank, t->ranks), TAG,
                           t->comm, MPI_STATUS_IGNORE));
    }
    for (int k = 0, child = 0; (child = tree->child(t->rank, t->ranks, k)) < t->ranks; k++) {
        MPI_CHECK(MPI_Send(message(t), count_of(t), MPI_BYTE, child, TAG, t->comm));
    }
}

/* Four bytes to the parent once all children have sent theirs; the root then knows that all ranks
 * have the message. */
static void acknowledge(const struct task *t, const struct tree *tree)
{
    int acknowledgement = 0;
    for (int k = 0, child = 0; (child = tree->child(t->rank, t->ranks, k)) < t->ranks; k++) {
        MPI_CHECK(MPI_Recv(&acknowledgement, 1, MPI_INT, child, TAG_ACKNOWLEDGEMENT, t->comm,
                           MPI_STATUS_IGNORE));
    }
    if (t->rank > 0) {
        MPI_CHECK(MPI_Send(&acknowledgement, 1, MPI_INT, tree->parent(t->rank, t->ranks),
                           TAG_ACKNOWLEDGEMENT, t->comm));
    }
}

static int segment_at(const struct task *t, int offset)
{
    const struct settings *settings = t->settings;
    const int left = count_of(t) - offset;
    return left < settings->segment_bytes ? left : (int)settings->segment_bytes;
}

/* Segment by segment along a chain: each goes on as soon as it is there, and the receive of the
 * next one is posted by then. */
static void send_segments(const struct task *t, const struct tree *tree)
{
    const int child = tree->child(t->rank, t->ranks, 0);
    const int before = t->rank > 0 ? tree->parent(t->rank, t->ranks) : MPI_PROC_NULL;
    const int after = child < t->ranks ? child : MPI_PROC_NULL;
    MPI_Request *passing = &t->requests[0];
    MPI_Request *coming = &t->requests[1]; /* the segments take turns in two of them */
    int turn = 0;
    int offset = 0;
    *passing = MPI_REQUEST_NULL;
    MPI_CHECK(MPI_Irecv(message(t), segment_at(t, 0), MPI_BYTE, before, TAG, t->comm, &coming[0]));
    do {
        const int bytes = segment_at(t, offset);
        const int next = offset + bytes;
        if (next < count_of(t)) {
            MPI_CHECK(MPI_Irecv(message(t) + next, segment_at(t, next), MPI_BYTE, before, TAG,
                                t->comm, &coming[1 - turn]));
        }
        MPI_CHECK(MPI_Wait(&coming[turn], MPI_STATUS_IGNORE));
        MPI_CHECK(MPI_Wait(passing, MPI_STATUS_IGNORE));
        MPI_CHECK(MPI_Isend(message(t) + offset, bytes, MPI_BYTE, after, TAG, t->comm, passing));
        offset = next;
        turn = 1 - turn;
    } while (offset < count_of(t));
    MPI_CHECK(MPI_Wait(passing, MPI_STATUS_IGNORE));
}

static size_t pipeline_requests(const struct task *t)
{
    (void)t;
    return 3;
}

/* Offset of a rank's part when the message is cut into as many parts as there are ranks. */
static int part(const struct task *t, int rank)
{
    return (int)((long long)count_of(t) * rank / t->ranks);
}

/* Bytes of the parts of all ranks from `first` to before `end`. */
static int part_bytes(const struct task *t, int first, int end)
{
    return part(t, end) - part(t, first);
}

/* Each subtree gets the parts of its ranks, down a binomial tree. */
static void scatter(const struct task *t)
{
    const int rank = t->rank;
    int end = binomial_end(rank, t->ranks);
    if (rank > 0) {
        MPI_CHECK(MPI_Recv(t->receive + part(t, rank), part_bytes(t, rank, end), MPI_BYTE,
                           BINOMIAL.parent(rank, t->ranks), TAG, t->comm, MPI_STATUS_IGNORE));
    }
    for (int k = 0, child = 0; (child = BINOMIAL.child(rank, t->ranks, k)) < t->ranks; k++) {
        MPI_CHECK(MPI_Send(message(t) + part(t, child), part_bytes(t, child, end), MPI_BYTE, child,
                           TAG, t->comm));
        end = child;
    }
}

/* Each part travels around the ring; the root has all parts and only sends. */
static void allgather(const struct task *t)
{
    const int before = t->rank > 0 ? t->rank - 1 : MPI_PROC_NULL;
    const int after = t->rank + 1 < t->ranks ? t->rank + 1 : MPI_PROC_NULL;
    for (int step = 0; step + 1 < t->ranks; step++) {
        const int leaving = shifted(t->rank, t->ranks, -step);
        const int coming = shifted(t->rank, t->ranks, -step - 1);
        MPI_CHECK(MPI_Sendrecv(message(t) + part(t, leaving), part_bytes(t, leaving, leaving + 1),
                               MPI_BYTE, after, TAG, message(t) + part(t, coming),
                               part_bytes(t, coming, coming + 1), MPI_BYTE, before, TAG, t->comm,
                               MPI_STATUS_IGNORE));
    }
}

static void run_tree(const struct task *t, long iterations)
{
    const struct along *along = t->variant;
    for (long i = 0; i < iterations; i++) {
        along->pass_on(t, along->tree);
        if (along->acknowledged) {
            acknowledge(t, along->tree);
        }
    }
}

static void run_scatter_allgather(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        scatter(t);
        allgather(t);
    }
}

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Bcast(message(t), count_of(t), MPI_BYTE, 0, t->comm));
    }
}

/* The message in equal parts, the last of them padded. */
static size_t padded_bytes(const struct task *t)
{
    const size_t ranks = (size_t)t->ranks;
    return ((size_t)count_of(t) + ranks - 1) / ranks * ranks;
}

static void run_scatter_then_allgather(const struct task *t, long iterations)
{
    const int bytes = (int)(padded_bytes(t) / (size_t)t->ranks);
    void *own = t->rank == 0 ? MPI_IN_PLACE : t->receive + (size_t)t->rank * (size_t)bytes;
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Scatter(t->send, bytes, MPI_BYTE, own, bytes, MPI_BYTE, 0, t->comm));
        MPI_CHECK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, message(t), bytes, MPI_BYTE,
                                t->comm));
    }
}

static bool arrival(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)count_of(t), .sender = 0};
    return t->rank > 0 && index == 0;
}

static bool arrival_padded(const struct task *t, int index, struct arrival *padded)
{
    *padded = (struct arrival){.bytes = padded_bytes(t), .sender = 0};
    return t->rank > 0 && index == 0;
}

static const struct mode MODES[] = {
    {.name = "repeated",
     .summary = "rank 0 sends to each rank in turn; time_us: until the last rank has ended",
     .source = "Hariri et al., message-passing tools (study 004)",
     .run = run_tree,
     .variant = &(const struct along){send_down, &REPEATED, false},
     .arrival = arrival},
    {.name = "repeated_ack",
     .summary = "like repeated; each rank acknowledges (4 B) once all its children have",
     .source = "study 004; its acknowledgements are our reconstruction",
     .run = run_tree,
     .variant = &(const struct along){send_down, &REPEATED, true},
     .arrival = arrival,
     .ends_at_root = true},
    {.name = "binary",
     .summary = "down a binary heap",
     .source = "study 004, figure 2.30",
     .run = run_tree,
     .variant = &(const struct along){send_down, &BINARY, false},
     .arrival = arrival},
    {.name = "binary_ack",
     .summary = "like binary; each rank acknowledges (4 B) once all its children have",
     .source = "study 004; its acknowledgements are our reconstruction",
     .run = run_tree,
     .variant = &(const struct along){send_down, &BINARY, true},
     .arrival = arrival,
     .ends_at_root = true},
    {.name = "two_level",
     .summary = "over about sqrt(ranks) relays",
     .source = "study 004, figure 2.31 (adaptive)",
     .run = run_tree,
     .variant = &(const struct along){send_down, &TWO_LEVEL, false},
     .arrival = arrival},
    {.name = "two_level_ack",
     .summary = "like two_level; each rank acknowledges (4 B) once all its children have",
     .source = "study 004; its acknowledgements are our reconstruction",
     .run = run_tree,
     .variant = &(const struct along){send_down, &TWO_LEVEL, true},
     .arrival = arrival,
     .ends_at_root = true},
    {.name = "binomial",
     .summary = "down a binomial tree, the largest subtree first",
     .source = "Thakur, Rabenseifner, Gropp 2005: broadcast of short messages",
     .run = run_tree,
     .variant = &(const struct along){send_down, &BINOMIAL, false},
     .arrival = arrival},
    {.name = "binomial_ack",
     .summary = "like binomial; each rank acknowledges (4 B) once all its children have",
     .source = "study 004; its acknowledgements are our reconstruction",
     .run = run_tree,
     .variant = &(const struct along){send_down, &BINOMIAL, true},
     .arrival = arrival,
     .ends_at_root = true},
    {.name = "pipelined",
     .summary =
         "from rank to rank in segments (--segment), each passed on while the next one comes",
     .source = "pipelined chain, as in Open MPI's coll/tuned",
     .run = run_tree,
     .variant = &(const struct along){send_segments, &CHAIN, false},
     .arrival = arrival,
     .requests = pipeline_requests},
    {.name = "pipelined_ack",
     .summary = "like pipelined; each rank acknowledges (4 B) once all its children have",
     .source = "study 004; its acknowledgements are our reconstruction",
     .run = run_tree,
     .variant = &(const struct along){send_segments, &CHAIN, true},
     .arrival = arrival,
     .ends_at_root = true,
     .requests = pipeline_requests},
    {.name = "scatter_allgather",
     .summary = "parts down a binomial tree, then around a ring",
     .source = "van de Geijn; Thakur, Rabenseifner, Gropp 2005: long messages",
     .run = run_scatter_allgather,
     .arrival = arrival},
    {.name = "library",
     .summary = "MPI_Bcast",
     .source = "the MPI library's own choice",
     .run = run_library,
     .operation = "bcast",
     .arrival = arrival},
    {.name = "scatter_then_allgather",
     .summary = "MPI_Scatter from rank 0, then MPI_Allgather",
     .source = GUIDELINES,
     .run = run_scatter_then_allgather,
     .replacement = true,
     .arrival = arrival_padded,
     .send_bytes = padded_bytes},
    {0},
};

static const struct kernel_option OPTIONS[] = {
    {.name = "--segment",
     .value_name = "BYTES",
     .help = "segments of the pipelined chain in bytes (8192)",
     .field = offsetof(struct settings, segment_bytes),
     .least = 1,
     .most = INT_MAX},
    {0},
};

static const struct pattern BROADCAST = {.name = "broadcast"};

int main(int argc, char **argv)
{
    struct settings settings = {.segment_bytes = 8192};
    const struct kernel broadcast = {
        .name = "broadcast",
        .summary = "what it costs to bring rank 0's message to all others",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST_ALONE,
        .pattern = &BROADCAST,
        .modes = MODES,
        .options = OPTIONS,
        .settings = &settings,
    };
    return engine_main(argc, argv, &broadcast);
}
