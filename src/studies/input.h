/* The input of the applications: numbers that follow from a key and a place, the same on every
 * rank. */
#ifndef SWITCHPOINT_INPUT_H
#define SWITCHPOINT_INPUT_H

#include "random.h"

/* 64 bits, all equally likely. */
static inline uint64_t drawn(uint64_t key, uint64_t place)
{
    uint64_t state = key ^ place * UINT64_C(0xD1342543DE82EF95);
    return random_next(&state);
}

/* From -1/2 to 1/2. */
static inline double drawn_fraction(uint64_t key, uint64_t place)
{
    return (double)(drawn(key, place) >> 11) * 0x1p-53 - 0.5;
}

#endif
