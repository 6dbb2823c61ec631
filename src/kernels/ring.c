/* Ring with a compute grain: a task divided over the ranks, then a message to the right neighbour.
 * What is left of the speed-up when the communication is paid for (Hanebutte and Tatsumi 1996). */
#include "engine.h"

#include <math.h>
#include <stdint.h>

enum { TAG = 1, COMPUTE = 0, EXCHANGE = 1 };

struct settings {
    long grain_us;       /* T: the whole task on one rank */
    long serial_percent; /* s: the part of T that only rank 0 can do */
};

/* One dependent multiplication after another: no compiler or core can take a short cut. */
static void work(long steps)
{
    static volatile uint64_t result;
    uint64_t state = result;
    for (long i = 0; i < steps; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
    }
    result = state;
}

/* Rank 0's, so that the same T is the same work on every rank; 0 before it is calibrated. */
static double steps_per_us;

/* The fastest of some rounds: what others take from the core is no part of the task. */
static void calibrate_work(const struct task *t)
{
    enum { ROUNDS = 10, STEPS = 100000 };
    if (steps_per_us > 0) {
        return;
    }
    double fastest_us = HUGE_VAL;
    for (int round = 0; round < ROUNDS; round++) {
        const double start = MPI_Wtime();
        work(STEPS);
        fastest_us = fmin(fastest_us, (MPI_Wtime() - start) * 1e6);
    }
    steps_per_us = STEPS / fastest_us;
    MPI_CHECK(MPI_Bcast(&steps_per_us, 1, MPI_DOUBLE, 0, t->comm));
}

/* Equations 4 to 6: (1 - s) T / np on each rank, and s T on rank 0 while the others wait for it. */
static long share_of_steps(const struct task *t)
{
    const struct settings *settings = t->settings;
    const double serial = (double)settings->serial_percent / 100;
    const double share = (1 - serial) / t->ranks + (t->rank == 0 ? serial : 0);
    return (long)(share * (double)settings->grain_us * steps_per_us);
}

static void compute(const struct task *t, long steps)
{
    const double start = MPI_Wtime();
    work(steps);
    phase_end(t, COMPUTE, start);
}

static int right(const struct task *t)
{
    return (t->rank + 1) % t->ranks;
}

static int left(const struct task *t)
{
    return (t->rank + t->ranks - 1) % t->ranks;
}

/* Half send while half receive, then the other way round. */
static void exchange_alternately(const struct task *t)
{
    for (int turn = 0; turn < 2; turn++) {
        if (t->rank % 2 == turn) {
            MPI_CHECK(MPI_Send(t->send, t->size_bytes, MPI_BYTE, right(t), TAG, t->comm));
        } else {
            MPI_CHECK(MPI_Recv(t->receive, t->size_bytes, MPI_BYTE, left(t), TAG, t->comm,
                               MPI_STATUS_IGNORE));
        }
    }
}

static void exchange_at_once(const struct task *t)
{
    MPI_CHECK(MPI_Sendrecv(t->send, t->size_bytes, MPI_BYTE, right(t), TAG, t->receive,
                           t->size_bytes, MPI_BYTE, left(t), TAG, t->comm, MPI_STATUS_IGNORE));
}

static inline void compute_and_exchange(const struct task *t, long iterations,
                                        void (*exchange)(const struct task *))
{
    const long steps = share_of_steps(t);
    for (long i = 0; i < iterations; i++) {
        compute(t, steps);
        const double start = MPI_Wtime();
        exchange(t);
        phase_end(t, EXCHANGE, start);
    }
}

static void run_alternate(const struct task *t, long iterations)
{
    compute_and_exchange(t, iterations, exchange_alternately);
}

static void run_sendrecv(const struct task *t, long iterations)
{
    compute_and_exchange(t, iterations, exchange_at_once);
}

/* The base case of every speed-up. */
static void run_serial(const struct task *t, long iterations)
{
    const struct settings *settings = t->settings;
    const long steps = (long)((double)settings->grain_us * steps_per_us);
    for (long i = 0; i < iterations && t->rank == 0; i++) {
        compute(t, steps);
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
    *arrival = (struct arrival){.bytes = (size_t)t->size_bytes, .sender = left(t)};
    return index == 0;
}

static bool arrival_none(const struct task *t, int index, struct arrival *arrival)
{
    (void)t, (void)index, (void)arrival;
    return false;
}

static const struct mode MODES[] = {
    {.name = "alternate",
     .summary = "T over the ranks, then half send while half receive; time_us: one such step",
     .source = "Hanebutte and Tatsumi 1996, section 2.1",
     .run = run_alternate,
     .arrival = arrival_from_left,
     .suits = suits_alternate,
     .prepare = calibrate_work},
    {.name = "sendrecv",
     .summary = "the same with MPI_Sendrecv, which any number of ranks can do",
     .source = "MPI's own routine for the same exchange",
     .run = run_sendrecv,
     .arrival = arrival_from_left,
     .prepare = calibrate_work},
    {.name = "serial",
     .summary = "T on rank 0 alone, no messages: what speed-up compares with; time_us: T",
     .source = "Hanebutte and Tatsumi 1996, equation 1",
     .run = run_serial,
     .arrival = arrival_none,
     .prepare = calibrate_work},
    {0},
};

static const char *const PHASES[] = {[COMPUTE] = "compute_us", [EXCHANGE] = "exchange_us", NULL};

static bool accept_grain(void *settings, const char *value, struct refusal *refusal)
{
    return accept_number("--grain", value, 0, 60000000, &((struct settings *)settings)->grain_us,
                         refusal);
}

static bool accept_serial(void *settings, const char *value, struct refusal *refusal)
{
    return accept_number("--serial", value, 0, 100, &((struct settings *)settings)->serial_percent,
                         refusal);
}

static const struct kernel_option OPTIONS[] = {
    {"--grain", "US", "T: the whole task's time on one rank in us (1000)", accept_grain},
    {"--serial", "PERCENT", "s: the part of T that only rank 0 can do, in % (0)", accept_serial},
    {0},
};

int main(int argc, char **argv)
{
    struct settings settings = {.grain_us = 1000};
    const struct kernel ring = {
        .name = "ring",
        .summary = "a task divided over the ranks, then a message to each right neighbour; the "
                   "study's\nL words are sizes of 4 L bytes",
        .ranks_min = 2,
        .timing = TIME_OF_SLOWEST,
        .modes = MODES,
        .phases = PHASES,
        .options = OPTIONS,
        .settings = &settings,
    };
    return engine_main(argc, argv, &ring);
}
