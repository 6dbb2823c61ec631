/* A small seeded generator (splitmix64: Steele, Lea, Flood 2014) and entropy from the system. */
#ifndef SWITCHPOINT_RANDOM_H
#define SWITCHPOINT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* The next 64-bit number of the sequence that follows from `*state`. */
uint64_t random_next(uint64_t *state);

/* A number below `bound` (at least 1), all equally likely. */
uint64_t random_below(uint64_t *state, uint64_t bound);

/* Fills a block with unpredictable bytes. */
void random_entropy(void *block, size_t bytes);

#endif
