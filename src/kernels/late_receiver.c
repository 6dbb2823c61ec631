/* The late-receiver probe: up to which size does MPI_Send return before its receive is posted? */
#include "late_receiver.h"

#include <math.h>
#include <stdio.h>

#include "clock.h"

enum { PAYLOAD = 1, SENT = 2, ANSWER = 3 };
enum phase { HELD, SENDING };

/* held_us: how long the receiver held its receive back without a sign that the send had returned, 0
 * when the sign came. send_us: how long MPI_Send took. */
const char *const LATE_RECEIVER_PHASES[] = {"held_us", "send_us", NULL};

static const double HOLD_LEAST_US = 1e3;
static const double HOLD_FIRST_US = 2e4;
static const double HOLD_MOST_US = 5e5;

/* A send that did not return, by the sender's own clock too, counts when it was held so many times
 * as long as the rest of the transfer took, and so many of them decide; the second row is for the
 * size that is reported. */
struct rigour {
    int votes;
    double patience;
};
static const struct rigour SEARCHING = {.votes = 2, .patience = 4};
static const struct rigour CONFIRMING = {.votes = 4, .patience = 10};

enum { CONTRADICTIONS_MAX = 3 };

static void receive_late(const struct task *t, double hold_us);

/* The sender says when MPI_Send has returned; until then, or until it has held out, the receiver
 * looks for that word alone, which lets the library progress but posts no receive. */
static void run_late(const struct task *t, long iterations)
{
    const struct late_receiver *late = t->settings;
    for (long i = 0; i < iterations; i++) {
        if (t->rank == 0) {
            double held_us = 0;
            const double start = clock_us();
            MPI_CHECK(MPI_Send(t->send, t->size_bytes, MPI_BYTE, 1, PAYLOAD, t->comm));
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
    MPI_CHECK(
        MPI_Recv(t->receive, t->size_bytes, MPI_BYTE, 0, PAYLOAD, t->comm, MPI_STATUS_IGNORE));
    MPI_CHECK(MPI_Recv(NULL, 0, MPI_BYTE, 0, SENT, t->comm, MPI_STATUS_IGNORE));
    MPI_CHECK(MPI_Send(&held_us, 1, MPI_DOUBLE, 0, ANSWER, t->comm));
}

/* Rank 1 receives one message. */
static bool arrival_late(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)t->size_bytes, .sender = 0};
    return t->rank == 1 && index == 0;
}

const struct mode LATE_RECEIVER = {
    .name = "late",
    .summary = "MPI_Send to a receiver that progresses MPI but posts late; time_us: the handshake",
    .source = "the definition of eager: MPI 3.1, 3.4, standard mode that buffers",
    .once = true,
    .run = run_late,
    .arrival = arrival_late,
};

static bool returns_early(struct explorer *explorer, struct late_receiver *late,
                          struct search *search, int size_bytes, struct rigour rigour)
{
    for (int against = 0; against < rigour.votes;) {
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
            return true; /* it came back at once, and no word of it ever arrives */
        } else {
            late->least_us = fmin(2 * held_us, HOLD_MOST_US);
        }
        late->hold_us = fmin(fmax(1.5 * rigour.patience * rest_us, late->least_us), HOLD_MOST_US);
    }
    return false;
}

void late_receiver_search(struct explorer *explorer, struct late_receiver *late,
                          struct search *search)
{
    late->hold_us = HOLD_FIRST_US;
    late->least_us = HOLD_LEAST_US;
    search->jump = NAN;
    int last = search->low_bytes;
    int first = search->high_bytes;
    if (!returns_early(explorer, late, search, last, CONFIRMING)) {
        search->outcome = NONE;
        snprintf(search->reason, sizeof search->reason,
                 "MPI_Send waits for its receive at %d bytes already", last);
        return;
    }
    if (returns_early(explorer, late, search, first, CONFIRMING)) {
        search->outcome = NONE;
        snprintf(search->reason, sizeof search->reason,
                 "MPI_Send returns before its receive is posted up to %d bytes", first);
        return;
    }
    for (int contradictions = 0; contradictions < CONTRADICTIONS_MAX; contradictions++) {
        while (first - last > 1) {
            const int middle = last + (first - last) / 2;
            if (returns_early(explorer, late, search, middle, SEARCHING)) {
                last = middle;
            } else {
                first = middle;
            }
        }
        if (!returns_early(explorer, late, search, first, CONFIRMING)) {
            search->outcome = EXACT;
            search->last_bytes = last;
            search->first_bytes = first;
            snprintf(search->reason, sizeof search->reason,
                     "MPI_Send of %d bytes returned before its receive was posted, of %d bytes"
                     " it waited",
                     last, first);
            return;
        }
        last = first;
        first = search->high_bytes;
    }
    search->outcome = UNSURE;
    snprintf(search->reason, sizeof search->reason,
             "answers contradict each other near %d bytes; measure again on quieter cores", last);
}
