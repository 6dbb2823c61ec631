/* A kernel that uses what ping-pong does not: any number of ranks, a phase, an option that is not a
 * number, a state, arrivals from all parts of the send buffer, the slowest rank's clock. One mode
 * starts slowly, one breaks MPI. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "kernel.h"

struct settings {
    int grain;
};

static bool accept_grain(void *settings, const char *value, struct refusal *refusal)
{
    struct settings *mine = settings;
    if (strcmp(value, "none") != 0 && strcmp(value, "some") != 0) {
        return refuse(refusal, "--grain: '%s' is neither none nor some", value);
    }
    mine->grain = strcmp(value, "some") == 0 ? 1000 : 0;
    return true;
}

static void run_alltoall(const struct task *t, long iterations)
{
    const struct settings *settings = t->settings;
    for (long i = 0; i < iterations; i++) {
        const double start_us = phase_begin(t);
        for (volatile int work = 0; work < settings->grain; work = work + 1) {
        }
        phase_end(t, 0, start_us);
        MPI_CHECK(MPI_Alltoall(t->send, count_of(t), MPI_BYTE, t->receive, count_of(t), MPI_BYTE,
                               t->comm));
    }
}

/* The first two runs, which are warm-up and calibration, meet a slow moment of 30 ms. */
static void run_hiccup(const struct task *t, long iterations)
{
    int *runs = t->state;
    if ((*runs)++ < 2) {
        const double start_us = clock_us();
        while (clock_us() - start_us < 3e4) {
        }
    }
    run_alltoall(t, iterations);
}

/* Rank 0 sends one byte more than its neighbour takes. */
static void run_overflow(const struct task *t, long iterations)
{
    if (iterations > 0 && t->rank == 0) {
        MPI_CHECK(MPI_Send(t->send, count_of(t) + 1, MPI_BYTE, 1, 0, t->comm));
    }
    if (iterations > 0 && t->rank == 1) {
        MPI_CHECK(MPI_Recv(t->receive, count_of(t), MPI_BYTE, 0, 0, t->comm, MPI_STATUS_IGNORE));
    }
}

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

static const struct mode MODES[] = {
    {.name = "alltoall",
     .summary = "MPI_Alltoall",
     .source = "MPI standard",
     .run = run_alltoall,
     .arrival = arrival,
     .send_bytes = send_bytes},
    {.name = "hiccup",
     .summary = "slow at first",
     .source = "none",
     .run = run_hiccup,
     .arrival = arrival,
     .send_bytes = send_bytes},
    {.name = "overflow",
     .summary = "too long a message",
     .source = "none",
     .run = run_overflow,
     .arrival = arrival,
     .send_bytes = send_bytes},
    {0},
};

static const char *const PHASES[] = {"compute_us", NULL};

static const struct kernel_option OPTIONS[] = {
    {.name = "--grain",
     .value_name = "none|some",
     .help = "work before each exchange (none)",
     .accept = accept_grain},
    {0},
};

int main(int argc, char **argv)
{
    struct settings settings = {0};
    int runs = 0; /* of mode hiccup */
    const struct kernel exchange = {
        .name = "exchange",
        .summary = "a kernel for the engine's tests",
        .ranks_min = 2,
        .ranks_max = 3,
        .timing = TIME_OF_SLOWEST,
        .modes = MODES,
        .phases = PHASES,
        .options = OPTIONS,
        .settings = &settings,
        .state = &runs,
    };
    return engine_main(argc, argv, &exchange);
}
