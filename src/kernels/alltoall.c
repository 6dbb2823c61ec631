/* All-to-all: every rank has a message for every other rank. The messages are cut into
 * packets, and the schedules order the packets differently (Tam, study 003). */
#include <limits.h>
#include <string.h>

#include "exchange_schedule.h"
#include "kernel.h"
#include "rank_counts.h"
#include "replacement.h"

enum { TAG = 1 };

struct settings {
    long packet_bytes;
    long group;
    long send_window; /* packets that a rank has in flight in windowed modes; 0: ranks - 1 */
};

/* The `variant` of the modes that follow a schedule. */
struct scheduled {
    enum schedule schedule;
    bool windowed;
};

static struct exchange exchange_of(const struct task *t)
{
    const struct settings *settings = t->settings;
    const long packets = (count_of(t) + settings->packet_bytes - 1) / settings->packet_bytes;
    return (struct exchange){.ranks = t->ranks,
                             .packets = packets > 1 ? (int)packets : 1,
                             .group = (int)settings->group};
}

/* A packet of the message for or from a peer. */
struct packet {
    size_t offset;
    int bytes;
};

static struct packet packet_at(const struct task *t, struct slot slot)
{
    const struct settings *settings = t->settings;
    const long start = slot.packet * settings->packet_bytes;
    const long left = count_of(t) - start;
    const long bytes = left < settings->packet_bytes ? left : settings->packet_bytes;
    return (struct packet){(size_t)slot.peer * (size_t)count_of(t) + (size_t)start, (int)bytes};
}

/* How many packets a rank has in flight. The study's schedules have no waits between slots. The
 * default of a window is a rank's number of peers, one packet to each in a shuffle: no link then
 * has a queue in which packets overtake others. */
static int packets_in_flight(const struct task *t, bool windowed, int messages)
{
    const struct settings *settings = t->settings;
    const long window = settings->send_window > 0 ? settings->send_window : t->ranks - 1;
    return windowed && window < messages ? (int)window : messages;
}

/* Shift and pairwise complete the exchange with one peer before they start with the next: between
 * these stages the network's pipes run empty. The shuffles have one stage. */
static int messages_in_stage(enum schedule schedule, const struct exchange *exchange, int messages)
{
    return schedule == SHIFT || schedule == PAIRWISE ? exchange->packets : messages;
}

/* Posts all receives, in the order in which the packets are sent. */
static void post_receives(const struct task *t, enum schedule schedule,
                          const struct exchange *exchange, MPI_Request *receives)
{
    const long slots = slot_count(schedule, exchange);
    int posted = 0;
    for (long s = 0; s < slots; s++) {
        const struct slot from = slot_from(schedule, exchange, t->rank, s);
        if (from.peer != t->rank) {
            const struct packet packet = packet_at(t, from);
            MPI_CHECK(MPI_Irecv(t->receive + packet.offset, packet.bytes, MPI_BYTE, from.peer, TAG,
                                t->comm, &receives[posted++]));
        }
    }
}

/* A slot waits only for room in a window and, after the last slot of a stage, for the stage. */
static void send_packets(const struct task *t, const struct scheduled *variant,
                         const struct exchange *exchange, MPI_Request *receives, MPI_Request *sends)
{
    const enum schedule schedule = variant->schedule;
    const long slots = slot_count(schedule, exchange);
    const int messages = (t->ranks - 1) * exchange->packets;
    const int window = packets_in_flight(t, variant->windowed, messages);
    const int stage = messages_in_stage(schedule, exchange, messages);
    int sent = 0;
    for (long s = 0; s < slots; s++) {
        const struct slot to = slot_to(schedule, exchange, t->rank, s);
        if (to.peer == t->rank) {
            continue;
        }
        const struct packet packet = packet_at(t, to);
        if (sent >= window) {
            MPI_CHECK(MPI_Wait(&sends[sent - window], MPI_STATUS_IGNORE));
        }
        MPI_CHECK(MPI_Isend(t->send + packet.offset, packet.bytes, MPI_BYTE, to.peer, TAG, t->comm,
                            &sends[sent++]));
        if (sent % stage == 0) {
            MPI_CHECK(MPI_Waitall(stage, &sends[sent - stage], MPI_STATUSES_IGNORE));
            MPI_CHECK(MPI_Waitall(stage, &receives[sent - stage], MPI_STATUSES_IGNORE));
        }
    }
}

/* MPI_Alltoall does it too. */
static void copy_own_message(const struct task *t)
{
    const size_t bytes = (size_t)count_of(t);
    const size_t own = (size_t)t->rank * bytes;
    memcpy(t->receive + own, t->send + own, bytes);
}

static void run_schedule(const struct task *t, long iterations)
{
    const struct scheduled *variant = t->variant;
    const struct exchange exchange = exchange_of(t);
    MPI_Request *receives = t->requests;
    MPI_Request *sends = t->requests + (size_t)(t->ranks - 1) * (size_t)exchange.packets;
    for (long i = 0; i < iterations; i++) {
        post_receives(t, variant->schedule, &exchange, receives);
        copy_own_message(t);
        send_packets(t, variant, &exchange, receives, sends);
    }
}

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Alltoall(t->send, count_of(t), MPI_BYTE, t->receive, count_of(t), MPI_BYTE,
                               t->comm));
    }
}

/* One message from each rank, this rank included. */
static bool arrival(const struct task *t, int index, struct arrival *arrival)
{
    const size_t bytes = (size_t)count_of(t);
    *arrival = (struct arrival){.offset = (size_t)index * bytes,
                                .bytes = bytes,
                                .sender = index,
                                .sent_offset = (size_t)t->rank * bytes};
    return index < t->ranks;
}

static size_t send_bytes(const struct task *t)
{
    return (size_t)t->ranks * (size_t)count_of(t);
}

static size_t two_requests_per_packet(const struct task *t)
{
    return 2 * (size_t)(t->ranks - 1) * (size_t)exchange_of(t).packets;
}

static bool suits_packets(const struct task *t, struct refusal *refusal)
{
    enum { MESSAGES_MAX = 1 << 20 };
    const struct settings *settings = t->settings;
    const long messages = (long)(t->ranks - 1) * exchange_of(t).packets;
    return messages <= MESSAGES_MAX ||
           refuse(refusal,
                  "--packet: %d bytes in packets of %ld are %ld messages from each of %d ranks, "
                  "more than %d; use larger packets or smaller --sizes",
                  count_of(t), settings->packet_bytes, messages, t->ranks, MESSAGES_MAX);
}

static bool suits_pairwise(const struct task *t, struct refusal *refusal)
{
    return suits_packets(t, refusal) &&
           ((t->ranks & (t->ranks - 1)) == 0 ||
            refuse(refusal,
                   "--mode: pairwise needs a power of two of ranks, not %d; use another number of "
                   "ranks, or --mode without it",
                   t->ranks));
}

static bool suits_group_shuffle(const struct task *t, struct refusal *refusal)
{
    const struct settings *settings = t->settings;
    return suits_packets(t, refusal) &&
           (t->ranks % settings->group == 0 ||
            refuse(refusal,
                   "--group: groups of %ld do not divide %d ranks; use a divisor, or --mode "
                   "without group shuffles",
                   settings->group, t->ranks));
}

static void run_by_alltoallv(const struct task *t, long iterations)
{
    const struct rank_counts *each = t->state;
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Alltoallv(t->send, each->counts, each->offsets, MPI_BYTE, t->receive,
                                each->counts, each->offsets, MPI_BYTE, t->comm));
    }
}

static const struct mode MODES[] = {
    {.name = "shift",
     .summary = "all packets to rank + 1 and from rank - 1, then to and from the next ranks; "
                "time_us: until the last rank has ended",
     .source = "Tam, complete exchange (study 003); the wait between peers is our reconstruction",
     .run = run_schedule,
     .variant = &(const struct scheduled){SHIFT, false},
     .arrival = arrival,
     .send_bytes = send_bytes,
     .requests = two_requests_per_packet,
     .suits = suits_packets},
    {.name = "pairwise",
     .summary = "like shift, with partners by exclusive or; needs a power of two of ranks",
     .source = "Tam, complete exchange (study 003); the wait between peers is our reconstruction",
     .run = run_schedule,
     .variant = &(const struct scheduled){PAIRWISE, false},
     .arrival = arrival,
     .send_bytes = send_bytes,
     .requests = two_requests_per_packet,
     .suits = suits_pairwise},
    {.name = "group_shuffle",
     .summary = "a packet to each rank of a group in turn, group after group (--group)",
     .source = "Tam, complete exchange (study 003); the groups are our reconstruction",
     .run = run_schedule,
     .variant = &(const struct scheduled){GROUP_SHUFFLE, false},
     .arrival = arrival,
     .send_bytes = send_bytes,
     .requests = two_requests_per_packet,
     .suits = suits_group_shuffle},
    {.name = "synchronous_shuffle",
     .summary = "a packet to each other rank in turn, then the next packet to each; no waits",
     .source = "Tam, complete exchange (study 003); the order is our reconstruction",
     .run = run_schedule,
     .variant = &(const struct scheduled){SYNCHRONOUS_SHUFFLE, false},
     .arrival = arrival,
     .send_bytes = send_bytes,
     .requests = two_requests_per_packet,
     .suits = suits_packets},
    {.name = "group_shuffle_windowed",
     .summary = "like group_shuffle, with at most --send-window packets in flight",
     .source = "group_shuffle; the window is ours",
     .run = run_schedule,
     .variant = &(const struct scheduled){GROUP_SHUFFLE, true},
     .arrival = arrival,
     .send_bytes = send_bytes,
     .requests = two_requests_per_packet,
     .suits = suits_group_shuffle},
    {.name = "synchronous_shuffle_windowed",
     .summary = "like synchronous_shuffle, with at most --send-window packets in flight",
     .source = "synchronous_shuffle; the window is ours",
     .run = run_schedule,
     .variant = &(const struct scheduled){SYNCHRONOUS_SHUFFLE, true},
     .arrival = arrival,
     .send_bytes = send_bytes,
     .requests = two_requests_per_packet,
     .suits = suits_packets},
    {.name = "library",
     .summary = "MPI_Alltoall",
     .source = "the MPI library's own choice",
     .run = run_library,
     .operation = "alltoall",
     .arrival = arrival,
     .send_bytes = send_bytes},
    {.name = "by_alltoallv",
     .summary = "MPI_Alltoallv with the same count for every rank",
     .source = GUIDELINES,
     .run = run_by_alltoallv,
     .replacement = true,
     .arrival = arrival,
     .send_bytes = send_bytes,
     .suits = suits_one_call,
     .prepare = rank_counts_prepare,
     .release = rank_counts_release},
    {0},
};

static const struct kernel_option OPTIONS[] = {
    {.name = "--packet",
     .value_name = "BYTES",
     .help = "largest packet in bytes (65536)",
     .field = offsetof(struct settings, packet_bytes),
     .least = 1,
     .most = INT_MAX},
    {.name = "--group",
     .value_name = "N",
     .help = "ranks in a group of the group shuffles (2)",
     .field = offsetof(struct settings, group),
     .least = 1,
     .most = INT_MAX},
    {.name = "--send-window",
     .value_name = "N",
     .help = "packets that a rank has in flight in windowed modes (one for each peer)",
     .field = offsetof(struct settings, send_window),
     .least = 1,
     .most = INT_MAX},
    {0},
};

static const struct pattern ALLTOALL = {
    .name = "alltoall", .sizes = one_for_each_rank, .bus_factor = all_but_own};

int main(int argc, char **argv)
{
    struct settings settings = {.packet_bytes = 65536, .group = 2};
    struct rank_counts counts = {0};
    const struct kernel alltoall = {
        .name = "alltoall",
        .summary = "every rank has a message of the given size for every other rank",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST_ALONE,
        .pattern = &ALLTOALL,
        .modes = MODES,
        .options = OPTIONS,
        .settings = &settings,
        .state = &counts,
    };
    return engine_main(argc, argv, &alltoall);
}
