/* Payloads: bytes that follow from their sender, size and pass, and the check that they arrived. */
#ifndef SWITCHPOINT_PAYLOAD_H
#define SWITCHPOINT_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

/* The identity of what one rank sends at one point in one pass. */
uint64_t payload_key(int sender, int64_t size_bytes, int pass);

/* Fills a send buffer with the payload of `key`. */
void payload_fill(unsigned char *buffer, size_t bytes, uint64_t key);

/* Makes every byte of the buffer differ from the payload of `key` that starts at `sent_offset`: a
 * byte that never arrives is then always wrong. */
void payload_poison(unsigned char *buffer, size_t bytes, uint64_t key, size_t sent_offset);

enum { MARKS = 17 };

/* Poisons MARKS bytes at equal distances: the first one, the last one and those between them. What
 * is in a cache stays there, and yet nothing that arrived before passes for what is to arrive. */
void payload_mark(unsigned char *buffer, size_t bytes, uint64_t key, size_t sent_offset);

/* Bytes that differ from the payload of `key` that starts at `sent_offset`. */
size_t payload_differences(const unsigned char *buffer, size_t bytes, uint64_t key,
                           size_t sent_offset);

#endif
