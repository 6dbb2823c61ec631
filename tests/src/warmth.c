/* A kernel that tells what the engine did to its buffers. Each rank sends to itself by copying. Its
 * phases are counts: received bytes that something else changed since the last repetition, the
 * repetitions that came before in the same visit, and the bytes of a page before each buffer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"
#include "payload.h"

enum phase { CHANGED, EARLIER, BEFORE_SENT, BEFORE_RECEIVED };
enum { LARGEST = 1 << 20 };

struct state {
    unsigned char last[LARGEST]; /* what the last repetition copied */
    long repetitions;            /* since the payload changed */
};

static double before_in_page(const unsigned char *buffer)
{
    return (double)((uintptr_t)buffer % (uintptr_t)sysconf(_SC_PAGESIZE));
}

static void copy(const struct task *t)
{
    struct state *state = t->state;
    const size_t bytes = (size_t)count_of(t);
    if (memcmp(state->last, t->send, bytes) != 0) {
        state->repetitions = 0;
        memcpy(state->last, t->send, bytes);
    }
    for (size_t i = 0; i < bytes; i++) {
        t->phase_us[CHANGED] += t->receive[i] != state->last[i];
    }
    t->phase_us[EARLIER] += (double)state->repetitions++;
    t->phase_us[BEFORE_SENT] += before_in_page(t->send);
    t->phase_us[BEFORE_RECEIVED] += before_in_page(t->receive);
    memcpy(t->receive, t->send, bytes);
}

static void run_quickly(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        copy(t);
    }
}

static void run_slowly(const struct task *t, long iterations)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (long i = 0; i < iterations; i++) {
        nanosleep(&pause, NULL);
        copy(t);
    }
}

static bool arrival(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)count_of(t), .sender = t->rank};
    return index == 0;
}

static size_t result_bytes(const struct task *t)
{
    return (size_t)count_of(t);
}

static void fill(const struct task *t, uint64_t key)
{
    payload_fill(t->send, result_bytes(t), key);
}

static struct verdict check(const struct task *t, uint64_t key)
{
    const bool wrong = payload_differences(t->receive, result_bytes(t), key, 0) > 0;
    return (struct verdict){.compared = 1, .wrong = wrong};
}

static const struct result COPY = {result_bytes, fill, check};

static const struct mode MODES[] = {
    {.name = "quick",
     .summary = "copies",
     .source = "none",
     .run = run_quickly,
     .arrival = arrival},
    {.name = "slow",
     .summary = "sleeps and copies",
     .source = "none",
     .run = run_slowly,
     .arrival = arrival},
    {.name = "result",
     .summary = "copies, as a computation",
     .source = "none",
     .run = run_quickly,
     .result = &COPY},
    {0},
};

static const char *const PHASES[] = {[CHANGED] = "changed_us",
                                     [EARLIER] = "earlier_us",
                                     [BEFORE_SENT] = "before_sent_us",
                                     [BEFORE_RECEIVED] = "before_received_us",
                                     NULL};

int main(int argc, char **argv)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        return 1;
    }
    const struct kernel warmth = {
        .name = "warmth",
        .summary = "what the engine does to buffers between repetitions",
        .ranks_min = 1,
        .timing = TIME_AT_ROOT,
        .modes = MODES,
        .phases = PHASES,
        .state = state,
    };
    const int exit_code = engine_main(argc, argv, &warmth);
    free(state);
    return exit_code;
}
