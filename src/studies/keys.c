/* The keys of the parallel sort. */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const key x = *(const key *)a;
    const key y = *(const key *)b;
    return (x > y) - (x < y);
}

void sort_keys(key *keys, long count)
{
    qsort(keys, (size_t)count, sizeof *keys, ascending);
}

size_t first_above(const key *keys, size_t count, key pivot)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (keys[middle] > pivot) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

void merge_keys(const key *a, size_t a_count, const key *b, size_t b_count, key *merged)
{
    while (a_count > 0 && b_count > 0) {
        if (*a <= *b) {
            *merged++ = *a++;
            a_count--;
        } else {
            *merged++ = *b++;
            b_count--;
        }
    }
    memcpy(merged, a, a_count * sizeof *a);
    memcpy(merged + a_count, b, b_count * sizeof *b);
}

key distinct_key(uint64_t seed, long place)
{
    key k = (key)(seed ^ seed >> 32) + (key)place;
    k = (k ^ k >> 16) * 0x85EBCA6BU;
    k = (k ^ k >> 13) * 0xC2B2AE35U;
    return k ^ k >> 16;
}
