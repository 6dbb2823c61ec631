/* Broadcast: what it costs to bring rank 0's message to all others, by tree and by library.
 * A tree says who hears from whom; one text runs them all. */
#include "engine.h"

#include <limits.h>

enum { TAG = 1, TAG_ACKNOWLEDGEMENT = 2 };

struct settings {
    long segment_bytes;
};

/* A shape over the ranks of a communicator, rooted at rank 0. */
struct tree {
    int (*parent)(int rank, int ranks);              /* of any rank but the root */
    int (*child)(int rank, int ranks, int position); /* in sending order; `ranks` after the last */
};

/* The root sends to each in turn. */
static int parent_is_root(int rank, int ranks)
{
    (void)rank, (void)ranks;
    return 0;
}

static int child_repeated(int rank, int ranks, int position)
{
    return rank == 0 ? 1 + position : ranks;
}

static const struct tree REPEATED = {parent_is_root, child_repeated};

/* A heap: figure 2.30 of study 004 for 31 ranks. */
static int parent_binary(int rank, int ranks)
{
    (void)ranks;
    return (rank - 1) / 2;
}

static int child_binary(int rank, int ranks, int position)
{
    return position < 2 ? 2 * rank + 1 + position : ranks;
}

static const struct tree BINARY = {parent_binary, child_binary};

/* Figure 2.31 for 21 ranks: relays 1 to 4, members 5 to 20; as many relays as a relay has members,
 * as nearly as can be. */
static int relay_count(int ranks)
{
    int relays = 1;
    while ((relays + 1) * (relays + 1) <= ranks - 1) {
        relays++;
    }
    return relays;
}

static int parent_two_level(int rank, int ranks)
{
    const int relays = relay_count(ranks);
    const int members = ranks - 1 - relays;
    return rank <= relays ? 0 : 1 + (int)((long)(rank - 1 - relays) * relays / members);
}

/* The first member of a relay, and that of the next one: its end. */
static int first_member(int relay, int ranks)
{
    const int relays = relay_count(ranks);
    const int members = ranks - 1 - relays;
    return 1 + relays + (int)(((long)(relay - 1) * members + relays - 1) / relays);
}

static int child_two_level(int rank, int ranks, int position)
{
    const int relays = relay_count(ranks);
    const int first = rank == 0 ? 1 : first_member(rank, ranks);
    const int end = rank == 0 ? 1 + relays : first_member(rank + 1, ranks);
    return rank <= relays && first + position < end ? first + position : ranks;
}

static const struct tree TWO_LEVEL = {parent_two_level, child_two_level};

/* A rank's parent lacks its lowest bit; its children have one more, below that. */
static int lowest_bit(int rank, int ranks)
{
    int bit = 1;
    while (rank == 0 ? bit < ranks : (rank & bit) == 0) {
        bit *= 2;
    }
    return bit;
}

static int parent_binomial(int rank, int ranks)
{
    return rank - lowest_bit(rank, ranks);
}

/* The largest subtree first. */
static int child_binomial(int rank, int ranks, int position)
{
    int bit = lowest_bit(rank, ranks) / 2;
    while (bit > 0 && rank + bit >= ranks) {
        bit /= 2;
    }
    bit = position < (int)(CHAR_BIT * sizeof bit) - 1 ? bit >> position : 0;
    return bit > 0 ? rank + bit : ranks;
}

static const struct tree BINOMIAL = {parent_binomial, child_binomial};

static int parent_chain(int rank, int ranks)
{
    (void)ranks;
    return rank - 1;
}

static int child_chain(int rank, int ranks, int position)
{
    return position == 0 ? rank + 1 : ranks;
}

static const struct tree CHAIN = {parent_chain, child_chain};

/* What a rank passes on. */
static unsigned char *message(const struct task *t)
{
    return t->rank == 0 ? t->send : t->receive;
}

static inline void send_down(const struct task *t, const struct tree *tree)
{
    if (t->rank > 0) {
        MPI_CHECK(MPI_Recv(t->receive, t->size_bytes, MPI_BYTE, tree->parent(t->rank, t->ranks),
                           TAG, t->comm, MPI_STATUS_IGNORE));
    }
    for (int k = 0, child = 0; (child = tree->child(t->rank, t->ranks, k)) < t->ranks; k++) {
        MPI_CHECK(MPI_Send(message(t), t->size_bytes, MPI_BYTE, child, TAG, t->comm));
    }
}

/* Four bytes to the parent once all children have sent theirs; the root has heard of all. */
static inline void acknowledge(const struct task *t, const struct tree *tree)
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

/* Each segment goes on as soon as it is there, while the next one is on its way. */
static void send_along(const struct task *t)
{
    const struct settings *settings = t->settings;
    const int segment = (int)settings->segment_bytes;
    const int before = t->rank > 0 ? t->rank - 1 : MPI_PROC_NULL;
    const int after = t->rank + 1 < t->ranks ? t->rank + 1 : MPI_PROC_NULL;
    MPI_Request *passing = &t->requests[0];
    int offset = 0;
    *passing = MPI_REQUEST_NULL;
    do {
        const int left = t->size_bytes - offset;
        const int bytes = left < segment ? left : segment;
        MPI_CHECK(MPI_Recv(message(t) + offset, bytes, MPI_BYTE, before, TAG, t->comm,
                           MPI_STATUS_IGNORE));
        MPI_CHECK(MPI_Wait(passing, MPI_STATUS_IGNORE));
        MPI_CHECK(MPI_Isend(message(t) + offset, bytes, MPI_BYTE, after, TAG, t->comm, passing));
        offset += bytes;
    } while (offset < t->size_bytes);
    MPI_CHECK(MPI_Wait(passing, MPI_STATUS_IGNORE));
}

/* Where the part of a rank begins when the message is cut into as many parts as there are ranks. */
static int part(const struct task *t, int rank)
{
    return (int)((long long)t->size_bytes * rank / t->ranks);
}

/* The parts of the ranks from `first` to before `end`. */
static int part_bytes(const struct task *t, int first, int end)
{
    return part(t, end) - part(t, first);
}

/* Each subtree gets the parts of its ranks, down a binomial tree. */
static void scatter(const struct task *t)
{
    const int rank = t->rank;
    const int span = lowest_bit(rank, t->ranks);
    if (rank > 0) {
        const int end = rank + span < t->ranks ? rank + span : t->ranks;
        MPI_CHECK(MPI_Recv(t->receive + part(t, rank), part_bytes(t, rank, end), MPI_BYTE,
                           rank - span, TAG, t->comm, MPI_STATUS_IGNORE));
    }
    int end = rank + span < t->ranks ? rank + span : t->ranks;
    for (int k = 0, child = 0; (child = child_binomial(rank, t->ranks, k)) < t->ranks; k++) {
        MPI_CHECK(MPI_Send(message(t) + part(t, child), part_bytes(t, child, end), MPI_BYTE, child,
                           TAG, t->comm));
        end = child;
    }
}

/* Each part travels around the ring; the root has them all and only sends. */
static void allgather(const struct task *t)
{
    const int before = t->rank > 0 ? t->rank - 1 : MPI_PROC_NULL;
    const int after = t->rank + 1 < t->ranks ? t->rank + 1 : MPI_PROC_NULL;
    for (int step = 0; step + 1 < t->ranks; step++) {
        const int leaving = (t->rank - step + t->ranks) % t->ranks;
        const int coming = (t->rank - step - 1 + t->ranks) % t->ranks;
        MPI_CHECK(MPI_Sendrecv(message(t) + part(t, leaving), part_bytes(t, leaving, leaving + 1),
                               MPI_BYTE, after, TAG, message(t) + part(t, coming),
                               part_bytes(t, coming, coming + 1), MPI_BYTE, before, TAG, t->comm,
                               MPI_STATUS_IGNORE));
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
        MPI_CHECK(MPI_Bcast(message(t), t->size_bytes, MPI_BYTE, 0, t->comm));
    }
}

static inline void run_tree(const struct task *t, long iterations, const struct tree *tree,
                            bool acknowledged)
{
    for (long i = 0; i < iterations; i++) {
        if (tree == &CHAIN) {
            send_along(t);
        } else {
            send_down(t, tree);
        }
        if (acknowledged) {
            acknowledge(t, tree);
        }
    }
}

#define RUN(mode, tree, acknowledged)                                                              \
    static void run_##mode(const struct task *t, long iterations)                                  \
    {                                                                                              \
        run_tree(t, iterations, &(tree), acknowledged);                                            \
    }

RUN(repeated, REPEATED, false)
RUN(repeated_ack, REPEATED, true)
RUN(binary, BINARY, false)
RUN(binary_ack, BINARY, true)
RUN(two_level, TWO_LEVEL, false)
RUN(two_level_ack, TWO_LEVEL, true)
RUN(binomial, BINOMIAL, false)
RUN(binomial_ack, BINOMIAL, true)
RUN(pipelined, CHAIN, false)
RUN(pipelined_ack, CHAIN, true)

static bool arrival(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)t->size_bytes, .sender = 0};
    return t->rank > 0 && index == 0;
}

#define MODE(mode_name, mode_summary, mode_source)                                                 \
    {                                                                                              \
        .name = #mode_name, .summary = (mode_summary), .source = (mode_source),                    \
        .run = run_##mode_name, .arrival = arrival                                                 \
    }
#define ACKNOWLEDGED "the same, each acknowledging (4 B) once all its children have"

static const struct mode MODES[] = {
    MODE(repeated, "rank 0 sends to each in turn; time_us: until the last rank has ended",
         "Hariri et al., message-passing tools (study 004)"),
    MODE(repeated_ack, ACKNOWLEDGED, "study 004; its acknowledgements are our reconstruction"),
    MODE(binary, "down a binary heap", "study 004, figure 2.30"),
    MODE(binary_ack, ACKNOWLEDGED, "study 004; its acknowledgements are our reconstruction"),
    MODE(two_level, "over about sqrt(ranks) relays", "study 004, figure 2.31 (adaptive)"),
    MODE(two_level_ack, ACKNOWLEDGED, "study 004; its acknowledgements are our reconstruction"),
    MODE(binomial, "down a binomial tree, the largest subtree first",
         "Thakur, Rabenseifner, Gropp 2005: broadcast of short messages"),
    MODE(binomial_ack, ACKNOWLEDGED, "study 004; its acknowledgements are our reconstruction"),
    MODE(pipelined, "from rank to rank in segments (--segment), passed on while the next comes",
         "pipelined chain, as in Open MPI's coll/tuned"),
    MODE(pipelined_ack, ACKNOWLEDGED, "study 004; its acknowledgements are our reconstruction"),
    MODE(scatter_allgather, "parts down a binomial tree, then around a ring",
         "van de Geijn; Thakur, Rabenseifner, Gropp 2005: long messages"),
    MODE(library, "MPI_Bcast", "the MPI library's own choice"),
    {0},
};

static bool accept_segment(void *settings, const char *value, struct refusal *refusal)
{
    return accept_number("--segment", value, 1, INT_MAX,
                         &((struct settings *)settings)->segment_bytes, refusal);
}

static const struct kernel_option OPTIONS[] = {
    {"--segment", "BYTES", "segments of the pipelined chain in bytes (8192)", accept_segment},
    {0},
};

int main(int argc, char **argv)
{
    struct settings settings = {.segment_bytes = 8192};
    const struct kernel broadcast = {
        .name = "broadcast",
        .summary = "what it costs to bring rank 0's message to all others",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST_ALONE,
        .modes = MODES,
        .options = OPTIONS,
        .settings = &settings,
    };
    return engine_main(argc, argv, &broadcast);
}
