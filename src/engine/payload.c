/* Payloads: bytes that follow from their sender, size and pass, and the check that they arrived. */
#include "payload.h"

#include <string.h>

enum { WORD = sizeof(uint64_t) };

/* The multipliers are odd, so that the first byte, which is often the only one, changes with each
 * pass and each sender. */
static const uint64_t PER_PASS = UINT64_C(0x9E3779B97F4A7C15);
static const uint64_t PER_SENDER = UINT64_C(0xD1342543DE82EF95);
static const uint64_t PER_SIZE = UINT64_C(0xBF58476D1CE4E5B9);
static const uint64_t PER_WORD = UINT64_C(0x2545F4914F6CDD1D);

uint64_t payload_key(int sender, int64_t size_bytes, int pass)
{
    return (uint64_t)sender * PER_SENDER + (uint64_t)size_bytes * PER_SIZE +
           (uint64_t)pass * PER_PASS;
}

static uint64_t word_at(uint64_t key, size_t index)
{
    return key + (uint64_t)index * PER_WORD;
}

static unsigned char byte_at(uint64_t key, size_t position)
{
    const uint64_t word = word_at(key, position / WORD);
    return ((const unsigned char *)&word)[position % WORD];
}

static void write_pattern(unsigned char *buffer, size_t bytes, uint64_t key, size_t sent_offset,
                          uint64_t flip)
{
    size_t i = 0;
    if (sent_offset % WORD == 0) {
        for (; i + WORD <= bytes; i += WORD) {
            const uint64_t word = word_at(key, (sent_offset + i) / WORD) ^ flip;
            memcpy(buffer + i, &word, WORD);
        }
    }
    for (; i < bytes; i++) {
        buffer[i] = (unsigned char)(byte_at(key, sent_offset + i) ^ (unsigned char)flip);
    }
}

void payload_fill(unsigned char *buffer, size_t bytes, uint64_t key)
{
    write_pattern(buffer, bytes, key, 0, 0);
}

void payload_poison(unsigned char *buffer, size_t bytes, uint64_t key, size_t sent_offset)
{
    write_pattern(buffer, bytes, key, sent_offset, UINT64_MAX);
}

void payload_mark(unsigned char *buffer, size_t bytes, uint64_t key, size_t sent_offset)
{
    for (size_t i = 0; i < MARKS && bytes > 0; i++) {
        const size_t place = (bytes - 1) * i / (MARKS - 1);
        payload_poison(buffer + place, 1, key, sent_offset + place);
    }
}

size_t payload_differences(const unsigned char *buffer, size_t bytes, uint64_t key,
                           size_t sent_offset)
{
    size_t differences = 0;
    size_t i = 0;
    if (sent_offset % WORD == 0) {
        for (; i + WORD <= bytes; i += WORD) {
            const uint64_t expected = word_at(key, (sent_offset + i) / WORD);
            if (memcmp(buffer + i, &expected, WORD) != 0) {
                for (size_t k = 0; k < WORD; k++) {
                    differences += buffer[i + k] != byte_at(key, sent_offset + i + k);
                }
            }
        }
    }
    for (; i < bytes; i++) {
        differences += buffer[i] != byte_at(key, sent_offset + i);
    }
    return differences;
}
