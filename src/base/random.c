/* A small seeded generator and entropy from the system. */
#include "random.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t random_next(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

uint64_t random_below(uint64_t *state, uint64_t bound)
{
    /* Numbers past the last whole multiple of `bound` would favour the small ones. */
    const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t number = random_next(state);
    while (number >= limit) {
        number = random_next(state);
    }
    return number % bound;
}

void random_entropy(void *block, size_t bytes)
{
    if (getrandom(block, bytes, 0) == (ssize_t)bytes) {
        return;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t state = (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 30) ^ (uint64_t)getpid();
    unsigned char *out = block;
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (unsigned char)random_next(&state);
    }
}
