/* Complete exchange: every rank has a message for every other, cut into packets that the schedules
 * order differently (Tam, study 003). */
#include "engine.h"

#include <limits.h>

#include "exchange_schedule.h"

enum { TAG = 1 };

struct settings {
    long packet_bytes;
    long group;
    long send_window; /* packets that a rank has under way; 0: no bound; negative: ranks - 1 */
};

static struct exchange exchange_of(const struct task *t)
{
    const struct settings *settings = t->settings;
    const long packets = (t->size_bytes + settings->packet_bytes - 1) / settings->packet_bytes;
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
    const long left = t->size_bytes - start;
    const long bytes = left < settings->packet_bytes ? left : settings->packet_bytes;
    return (struct packet){(size_t)slot.peer * (size_t)t->size_bytes + (size_t)start, (int)bytes};
}

/* How many packets a rank has under way. As many as it has peers is one to each in a shuffle: few
 * enough that no link has a queue of packets of which some overtake others, and all end at once. */
static int send_window(const struct task *t, int messages)
{
    const struct settings *settings = t->settings;
    const long window = settings->send_window < 0 ? t->ranks - 1 : settings->send_window;
    return window > 0 && window < messages ? (int)window : messages;
}

/* Shift and pairwise turn to the next peer when they are done with this one: the stages in which
 * the network's pipes run empty. The shuffles have one stage. */
static int messages_in_stage(enum schedule schedule, const struct exchange *exchange, int messages)
{
    return schedule == SHIFT || schedule == PAIRWISE ? exchange->packets : messages;
}

/* Receives posted ahead in the order in which their packets are sent; then the sends, no slot
 * waiting for another but for room in the window and for the end of a stage. */
static inline void run_schedule(const struct task *t, long iterations, enum schedule schedule)
{
    const struct exchange exchange = exchange_of(t);
    const long slots = slot_count(schedule, &exchange);
    const int messages = (t->ranks - 1) * exchange.packets;
    const int window = send_window(t, messages);
    const int stage = messages_in_stage(schedule, &exchange, messages);
    MPI_Request *receives = t->requests;
    MPI_Request *sends = t->requests + messages;

    for (long i = 0; i < iterations; i++) {
        int posted = 0;
        for (long s = 0; s < slots; s++) {
            const struct slot from = slot_from(schedule, &exchange, t->rank, s);
            if (from.peer != t->rank) {
                const struct packet packet = packet_at(t, from);
                MPI_CHECK(MPI_Irecv(t->receive + packet.offset, packet.bytes, MPI_BYTE, from.peer,
                                    TAG, t->comm, &receives[posted++]));
            }
        }
        int sent = 0;
        for (long s = 0; s < slots; s++) {
            const struct slot to = slot_to(schedule, &exchange, t->rank, s);
            if (to.peer != t->rank) {
                const struct packet packet = packet_at(t, to);
                if (sent >= window) {
                    MPI_CHECK(MPI_Wait(&sends[sent - window], MPI_STATUS_IGNORE));
                }
                MPI_CHECK(MPI_Isend(t->send + packet.offset, packet.bytes, MPI_BYTE, to.peer, TAG,
                                    t->comm, &sends[sent++]));
                if (sent % stage == 0) {
                    MPI_CHECK(MPI_Waitall(stage, &sends[sent - stage], MPI_STATUSES_IGNORE));
                    MPI_CHECK(MPI_Waitall(stage, &receives[sent - stage], MPI_STATUSES_IGNORE));
                }
            }
        }
    }
}

static void run_shift(const struct task *t, long iterations)
{
    run_schedule(t, iterations, SHIFT);
}

static void run_pairwise(const struct task *t, long iterations)
{
    run_schedule(t, iterations, PAIRWISE);
}

static void run_synchronous_shuffle(const struct task *t, long iterations)
{
    run_schedule(t, iterations, SYNCHRONOUS_SHUFFLE);
}

static void run_group_shuffle(const struct task *t, long iterations)
{
    run_schedule(t, iterations, GROUP_SHUFFLE);
}

static void run_library(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        MPI_CHECK(MPI_Alltoall(t->send, t->size_bytes, MPI_BYTE, t->receive, t->size_bytes,
                               MPI_BYTE, t->comm));
    }
}

/* From each other rank. */
static bool arrival(const struct task *t, int index, struct arrival *arrival)
{
    const size_t bytes = (size_t)t->size_bytes;
    const int sender = index < t->rank ? index : index + 1;
    *arrival = (struct arrival){.offset = (size_t)sender * bytes,
                                .bytes = bytes,
                                .sender = sender,
                                .sent_offset = (size_t)t->rank * bytes};
    return sender < t->ranks;
}

/* From this rank too, which MPI_Alltoall copies: room for it must be there on the last rank. */
static bool arrival_library(const struct task *t, int index, struct arrival *arrival)
{
    const size_t bytes = (size_t)t->size_bytes;
    *arrival = (struct arrival){.offset = (size_t)index * bytes,
                                .bytes = bytes,
                                .sender = index,
                                .sent_offset = (size_t)t->rank * bytes};
    return index < t->ranks;
}

static size_t send_bytes(const struct task *t)
{
    return (size_t)t->ranks * (size_t)t->size_bytes;
}

static size_t a_send_and_a_receive_a_packet(const struct task *t)
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
                  "more than %d; choose larger packets or smaller --sizes",
                  t->size_bytes, settings->packet_bytes, messages, t->ranks, MESSAGES_MAX);
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
                   "--group: groups of %ld do not divide %d ranks; choose a divisor, or --mode "
                   "without group_shuffle",
                   settings->group, t->ranks));
}

#define SCHEDULED                                                                                  \
    .arrival = arrival, .send_bytes = send_bytes, .requests = a_send_and_a_receive_a_packet

static const struct mode MODES[] = {
    {.name = "shift",
     .summary =
         "all packets to rank + 1 and from rank - 1, then to and from the next, ...; time_us: "
         "until the last rank has ended",
     .source = "Tam, complete exchange (study 003); the wait between peers is our reconstruction",
     .run = run_shift,
     .suits = suits_packets,
     SCHEDULED},
    {.name = "pairwise",
     .summary = "the same with partners by exclusive or; needs a power of two of ranks",
     .source = "Tam, complete exchange (study 003); the wait between peers is our reconstruction",
     .run = run_pairwise,
     .suits = suits_pairwise,
     SCHEDULED},
    {.name = "group_shuffle",
     .summary = "a packet to each rank of a group in turn, group after group (--group)",
     .source = "Tam, complete exchange (study 003); the groups are our reconstruction",
     .run = run_group_shuffle,
     .suits = suits_group_shuffle,
     SCHEDULED},
    {.name = "synchronous_shuffle",
     .summary = "a packet to each other rank in turn, then the next to each",
     .source = "Tam, complete exchange (study 003); the order is our reconstruction",
     .run = run_synchronous_shuffle,
     .suits = suits_packets,
     SCHEDULED},
    {.name = "library",
     .summary = "MPI_Alltoall, which also copies each rank's message to itself",
     .source = "the MPI library's own choice",
     .run = run_library,
     .arrival = arrival_library,
     .send_bytes = send_bytes},
    {0},
};

static bool accept_packet(void *settings, const char *value, struct refusal *refusal)
{
    return accept_number("--packet", value, 1, INT_MAX,
                         &((struct settings *)settings)->packet_bytes, refusal);
}

static bool accept_group(void *settings, const char *value, struct refusal *refusal)
{
    return accept_number("--group", value, 1, INT_MAX, &((struct settings *)settings)->group,
                         refusal);
}

static bool accept_send_window(void *settings, const char *value, struct refusal *refusal)
{
    return accept_number("--send-window", value, 0, INT_MAX,
                         &((struct settings *)settings)->send_window, refusal);
}

static const struct kernel_option OPTIONS[] = {
    {"--packet", "BYTES", "largest packet in bytes (65536)", accept_packet},
    {"--group", "N", "ranks in a group of group_shuffle (2)", accept_group},
    {"--send-window", "N", "packets that a rank has under way; 0: no bound (one for each peer)",
     accept_send_window},
    {0},
};

int main(int argc, char **argv)
{
    struct settings settings = {.packet_bytes = 65536, .group = 2, .send_window = -1};
    const struct kernel alltoall = {
        .name = "alltoall",
        .summary = "every rank has a message of the given size for every other rank",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST_ALONE,
        .modes = MODES,
        .options = OPTIONS,
        .settings = &settings,
    };
    return engine_main(argc, argv, &alltoall);
}
