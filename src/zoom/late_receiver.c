/* The late-receiver probe: up to which size does MPI_Send return before its receive is posted? */
#include "late_receiver.h"

#include <math.h>
#include <stdio.h>

#include "clock.h"

enum { PAYLOAD = 1, SENT = 2, ANSWER = 3 };
enum phase { HELD, SENDING };

/* held_us: how long the receiver waited with its receive without a sign that the send had returned;
 * 0 when the sign came. send_us: how long MPI_Send took. */
const char *const LATE_RECEIVER_PHASES[] = {"held_us", "send_us", NULL};

static const double HOLD_LEAST_US = 1e3;
static const double HOLD_FIRST_US = 2e4;
static const double HOLD_MOST_US = 5e5;

/* How sure a search wants to be that a send does not return early, or does so without a sign. */
struct rigour {
    int votes;       /* sends that say so */
    double patience; /* the receiver must have waited this many times the rest of the transfer */
};
static const struct rigour SEARCHING = {.votes = 2, .patience = 4};
static const struct rigour CONFIRMING = {.votes = 4, .patience = 10};

enum { CONTRADICTIONS_MAX = 3 };

static void receive_late(const struct task *t, double hold_us);
static bool changes_between_ends(struct explorer *explorer, struct late_receiver *late,
                                 struct search *search);
static void find_change(struct explorer *explorer, struct late_receiver *late,
                        struct search *search);
static void narrow(struct explorer *explorer, struct late_receiver *late, struct search *search);
static bool returns_early(struct explorer *explorer, struct late_receiver *late,
                          struct search *search, int size_bytes, struct rigour rigour);

/* The sender sends a sign when MPI_Send has returned. Until the sign comes, or until its time is
 * up, the receiver only probes for the sign: the library can progress, but no receive is posted. */
static void run_late(const struct task *t, long iterations)
{
    const struct late_receiver *late = t->variant;
    for (long i = 0; i < iterations; i++) {
        if (t->rank == 0) {
            double held_us = 0;
            const double start = clock_us();
            MPI_CHECK(MPI_Send(t->send, count_of(t), MPI_BYTE, 1, PAYLOAD, t->comm));
            t->phase_us[SENDING] += clock_us() - start;
            MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, 1, SENT, t->comm));
            MPI_CHECK(MPI_Recv(&held_us, 1, MPI_DOUBLE, 1, ANSWER, t->comm, MPI_STATUS_IGNORE));
            t->phase_us[HELD] += held_us;
        } else {
            receive_late(t, late->hold_us);
        }
    }
}

static void receive_late(const struct task *t, double hold_us)
{
    int returned = 0;
    double waited_us = 0;
    const double start = clock_us();
    while (!returned && waited_us < hold_us) {
        MPI_CHECK(MPI_Iprobe(0, SENT, t->comm, &returned, MPI_STATUS_IGNORE));
        waited_us = clock_us() - start;
    }
    const double held_us = returned ? 0 : waited_us;
    MPI_CHECK(MPI_Recv(t->receive, count_of(t), MPI_BYTE, 0, PAYLOAD, t->comm, MPI_STATUS_IGNORE));
    MPI_CHECK(MPI_Recv(NULL, 0, MPI_BYTE, 0, SENT, t->comm, MPI_STATUS_IGNORE));
    MPI_CHECK(MPI_Send(&held_us, 1, MPI_DOUBLE, 0, ANSWER, t->comm));
}

/* Rank 1 receives one message. */
static bool arrival_late(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)count_of(t), .sender = 0};
    return t->rank == 1 && index == 0;
}

struct mode late_receiver_mode(const struct late_receiver *late)
{
    return (struct mode){
        .name = "late",
        .summary = "MPI_Send to a receiver that progresses MPI but posts its receive late; "
                   "time_us: the handshake",
        .source = "the definition of eager: MPI 3.1, 3.4, standard mode that buffers",
        .once = true,
        .run = run_late,
        .variant = late,
        .arrival = arrival_late,
    };
}

void late_receiver_search(struct explorer *explorer, struct late_receiver *late,
                          struct search *search)
{
    late->hold_us = HOLD_FIRST_US;
    late->least_us = HOLD_LEAST_US;
    search->jump = NAN;
    search->last_bytes = search->low_bytes;
    search->first_bytes = search->high_bytes;
    if (changes_between_ends(explorer, late, search)) {
        find_change(explorer, late, search);
    }
}

/* Collective. If not, fills in the outcome, or leaves it open when the time budget is used. */
static bool changes_between_ends(struct explorer *explorer, struct late_receiver *late,
                                 struct search *search)
{
    const bool early_at_low = returns_early(explorer, late, search, search->low_bytes, CONFIRMING);
    const bool early_at_high =
        early_at_low && returns_early(explorer, late, search, search->high_bytes, CONFIRMING);
    if (explorer_is_out_of_time(explorer)) {
        return false;
    }
    if (!early_at_low) {
        search->outcome = NONE;
        snprintf(search->reason, sizeof search->reason,
                 "MPI_Send already waits for its receive at %d bytes", search->low_bytes);
    } else if (early_at_high) {
        search->outcome = NONE;
        search->stayed_eager = true;
        snprintf(search->reason, sizeof search->reason,
                 "MPI_Send returns before its receive is posted up to %d bytes",
                 search->high_bytes);
    }
    return early_at_low && !early_at_high;
}

/* Collective. Fills in the outcome, or leaves it open when the time budget is used. */
static void find_change(struct explorer *explorer, struct late_receiver *late,
                        struct search *search)
{
    for (int contradictions = 0; contradictions < CONTRADICTIONS_MAX; contradictions++) {
        narrow(explorer, late, search);
        const bool waits = !returns_early(explorer, late, search, search->first_bytes, CONFIRMING);
        if (explorer_is_out_of_time(explorer)) {
            return;
        }
        if (waits) {
            search->outcome = EXACT;
            snprintf(search->reason, sizeof search->reason,
                     "MPI_Send of %d bytes returned before its receive was posted, MPI_Send of %d"
                     " bytes waited",
                     search->last_bytes, search->first_bytes);
            return;
        }
        search->last_bytes = search->first_bytes;
        search->first_bytes = search->high_bytes;
    }
    search->outcome = UNSURE;
    snprintf(search->reason, sizeof search->reason,
             "results contradict each other near %d bytes; measure again on quieter cores",
             search->last_bytes);
}

/* Collective. Where the run has used its time budget, the answer means nothing. */
static bool returns_early(struct explorer *explorer, struct late_receiver *late,
                          struct search *search, int size_bytes, struct rigour rigour)
{
    int without_sign = 0;
    for (int against = 0; against < rigour.votes && !explorer_is_out_of_time(explorer);) {
        const struct blocks blocks = explore(explorer, search->mode, size_bytes);
        const double held_us = blocks.values_us[1 + HELD];
        const double send_us = blocks.values_us[1 + SENDING];
        const double rest_us = blocks.values_us[0] - held_us;
        search->visits++;
        if (held_us <= 0) {
            return true;
        }
        if (send_us >= held_us / 2) {
            against += held_us >= rigour.patience * rest_us || held_us >= HOLD_MOST_US;
        } else if (held_us >= HOLD_MOST_US) {
            /* It returned at once, but its sign never arrives; or the sender lost its core before
             * the send for half of the time, which does not repeat. */
            if (++without_sign >= rigour.votes) {
                return true;
            }
        } else {
            late->least_us = fmin(2 * held_us, HOLD_MOST_US);
        }
        late->hold_us = fmin(fmax(1.5 * rigour.patience * rest_us, late->least_us), HOLD_MOST_US);
    }
    return false;
}

/* Collective. Halves the span from the last size that returns early to the first that does not,
 * until they are neighbours. */
static void narrow(struct explorer *explorer, struct late_receiver *late, struct search *search)
{
    while (search->first_bytes - search->last_bytes > 1 && !explorer_is_out_of_time(explorer)) {
        const int middle = search->last_bytes + (search->first_bytes - search->last_bytes) / 2;
        if (returns_early(explorer, late, search, middle, SEARCHING)) {
            search->last_bytes = middle;
        } else {
            search->first_bytes = middle;
        }
    }
}
