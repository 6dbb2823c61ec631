/* The keys of the parallel sort. */
#ifndef SWITCHPOINT_KEYS_H
#define SWITCHPOINT_KEYS_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t key;

void sort_keys(key *keys, long count);

/* Index of the first of some sorted keys that is larger than a pivot. */
size_t first_above(const key *keys, size_t count, key pivot);

/* Merges two sorted runs. */
void merge_keys(const key *a, size_t a_count, const key *b, size_t b_count, key *merged);

/* A permutation of all 32-bit numbers (the finalizer of MurmurHash3), so that no key occurs twice.
 */
key distinct_key(uint64_t seed, long place);

#endif
