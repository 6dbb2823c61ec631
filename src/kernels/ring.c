/* Ring with a compute grain: a task divided over the ranks, then a message to the right neighbour.
 * It shows how much of the speed-up the communication costs (Hanebutte and Tatsumi 1996). */
#include <math.h>

#include "clock.h"
#include "kernel.h"
#include "shift.h"

enum { TAG = 1, COMPUTE = 0, EXCHANGE = 1 };

struct settings {
    long grain_us;       /* T: the time of the whole task on one rank */
    long serial_percent; /* s: the part of T that only rank 0 can do */
};

struct state {
    double steps_per_us; /* as rank 0 measured it; 0 before that */
};

/* The `variant` of the modes that exchange messages. */
struct exchange {
    void (*exchange)(const struct task *);
};

/* Each multiplication depends on the one before: no compiler or core can take a short cut. */
static void work(long steps)
{
    static volatile uint64_t result;
    uint64_t state = result;
    for (long i = 0; i < steps; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
    }
    result = state;
}

/* Takes the fastest of several rounds, since other processes may slow the others down. All ranks
 * use rank 0's number, so that the same T is the same work on every rank. */
static void calibrate_work(const struct task *t)
{
    enum { ROUNDS = 10, STEPS = 100000 };
    struct state *state = t->state;
    if (state->steps_per_us > 0) {
        return;
    }
    double fastest_us = HUGE_VAL;
    for (int round = 0; round < ROUNDS; round++) {
        const double start_us = clock_us();
        work(STEPS);
        fastest_us = fmin(fastest_us, clock_us() - start_us);
    }
    state->steps_per_us = STEPS / fastest_us;
    MPI_CHECK(MPI_Bcast(&state->steps_per_us, 1, MPI_DOUBLE, 0, t->comm));
}

static long steps_in(const struct task *t, double us)
{
    const struct state *state = t->state;
    return (long)(us * state->steps_per_us);
}

/* Equations 4 to 6: (1 - s) T / np on each rank, and s T on rank 0 while the others wait for it. */
static long share_of_steps(const struct task *t)
{
    const struct settings *settings = t->settings;
    const double serial = (double)settings->serial_percent / 100;
    const double share = (1 - serial) / t->ranks + (t->rank == 0 ? serial : 0);
    return steps_in(t, share * (double)settings->grain_us);
}

static int right(const struct task *t)
{
    return shifted(t->rank, t->ranks, 1);
}

static int left(const struct task *t)
{
    return shifted(t->rank, t->ranks, -1);
}

/* Even ranks send while odd ranks receive, then the other way round. */
static void exchange_alternately(const struct task *t)
{
    for (int turn = 0; turn < 2; turn++) {
        if (t->rank % 2 == turn) {
            MPI_CHECK(MPI_Send(t->send, count_of(t), MPI_BYTE, right(t), TAG, t->comm));
        } else {
            MPI_CHECK(MPI_Recv(t->receive, count_of(t), MPI_BYTE, left(t), TAG, t->comm,
                               MPI_STATUS_IGNORE));
        }
    }
}

static void exchange_at_once(const struct task *t)
{
    MPI_CHECK(MPI_Sendrecv(t->send, count_of(t), MPI_BYTE, right(t), TAG, t->receive, count_of(t),
                           MPI_BYTE, left(t), TAG, t->comm, MPI_STATUS_IGNORE));
}

static void run_parallel(const struct task *t, long iterations)
{
    const struct exchange *variant = t->variant;
    const long steps = share_of_steps(t);
    double since_us = phase_begin(t);
    for (long i = 0; i < iterations; i++) {
        work(steps);
        since_us = phase_end(t, COMPUTE, since_us);
        variant->exchange(t);
        since_us = phase_end(t, EXCHANGE, since_us);
    }
}

/* The base case of every speed-up. */
static void run_serial(const struct task *t, long iterations)
{
    const struct settings *settings = t->settings;
    const long steps = steps_in(t, (double)settings->grain_us);
    double since_us = phase_begin(t);
    for (long i = 0; i < iterations && t->rank == 0; i++) {
        work(steps);
        since_us = phase_end(t, COMPUTE, since_us);
    }
}

static bool suits_alternate(const struct task *t, struct refusal *refusal)
{
    return t->ranks % 2 == 0 ||
           refuse(refusal,
                  "--mode: alternate pairs each sender with a receiver and needs an even number of "
                  "ranks, not %d; use one rank more, or --mode sendrecv,serial",
                  t->ranks);
}

static bool arrival_from_left(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)count_of(t), .sender = left(t)};
    return index == 0;
}

static bool arrival_none(const struct task *t, int index, struct arrival *arrival)
{
    (void)t, (void)index, (void)arrival;
    return false;
}

static const struct mode MODES[] = {
    {.name = "alternate",
     .summary = "T divided over the ranks, then half send while half receive; time_us: one step",
     .source = "Hanebutte and Tatsumi 1996, section 2.1",
     .run = run_parallel,
     .variant = &(const struct exchange){exchange_alternately},
     .arrival = arrival_from_left,
     .suits = suits_alternate,
     .prepare = calibrate_work},
    {.name = "sendrecv",
     .summary = "like alternate, with MPI_Sendrecv, for any number of ranks",
     .source = "MPI's own routine for the same exchange",
     .run = run_parallel,
     .variant = &(const struct exchange){exchange_at_once},
     .arrival = arrival_from_left,
     .prepare = calibrate_work},
    {.name = "serial",
     .summary = "T on rank 0 alone, no messages: the base of the speed-up; time_us: T",
     .source = "Hanebutte and Tatsumi 1996, equation 1",
     .run = run_serial,
     .arrival = arrival_none,
     .prepare = calibrate_work},
    {0},
};

static const char *const PHASES[] = {[COMPUTE] = "compute_us", [EXCHANGE] = "exchange_us", NULL};

static const struct kernel_option OPTIONS[] = {
    {.name = "--grain",
     .value_name = "US",
     .help = "T: time of the whole task on one rank in us (1000)",
     .field = offsetof(struct settings, grain_us),
     .least = 0,
     .most = 60000000},
    {.name = "--serial",
     .value_name = "PERCENT",
     .help = "s: the part of T that only rank 0 can do, in % (0)",
     .field = offsetof(struct settings, serial_percent),
     .least = 0,
     .most = 100},
    {0},
};

int main(int argc, char **argv)
{
    struct settings settings = {.grain_us = 1000};
    struct state state = {0};
    const struct kernel ring = {
        .name = "ring",
        .summary = "a task divided over the ranks, then a message to each right neighbour; L words "
                   "of the\nstudy are a size of 4 L bytes",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST,
        .pattern = &PATTERN_PROBLEM,
        .modes = MODES,
        .phases = PHASES,
        .options = OPTIONS,
        .settings = &settings,
        .state = &state,
    };
    return engine_main(argc, argv, &ring);
}
