/* Payloads: bytes that arrived are distinguished from bytes that did not. */
#include <string.h>

#include "check.h"
#include "payload.h"

enum { ROOM = 4099 };

static void what_arrives_is_recognised(void)
{
    unsigned char sent[ROOM];
    unsigned char received[ROOM];
    const uint64_t key = payload_key(3, ROOM, 1);
    payload_fill(sent, ROOM, key);
    payload_poison(received, ROOM, key, 0);
    memcpy(received, sent, ROOM);
    CHECK(payload_differences(received, ROOM, key, 0) == 0);
}

static void a_part_of_the_send_buffer_is_recognised_at_any_offset(void)
{
    unsigned char sent[ROOM];
    const uint64_t key = payload_key(0, ROOM, 0);
    payload_fill(sent, ROOM, key);
    for (size_t offset = 0; offset < 20; offset++) {
        for (size_t bytes = 0; bytes < 20; bytes++) {
            unsigned char received[20];
            payload_poison(received, bytes, key, offset);
            CHECK(payload_differences(received, bytes, key, offset) == bytes);
            memcpy(received, sent + offset, bytes);
            CHECK(payload_differences(received, bytes, key, offset) == 0);
        }
    }
}

static void poison_differs_in_every_byte(void)
{
    unsigned char received[ROOM];
    for (int size = 1; size <= 300; size++) {
        const uint64_t key = payload_key(1, size, 2);
        payload_poison(received, (size_t)size, key, 0);
        CHECK(payload_differences(received, (size_t)size, key, 0) == (size_t)size);
    }
}

static void one_wrong_byte_is_found(void)
{
    unsigned char received[ROOM];
    const uint64_t key = payload_key(1, ROOM, 0);
    payload_fill(received, ROOM, key);
    for (size_t at = 0; at < ROOM; at += 17) {
        received[at] ^= 1;
        CHECK(payload_differences(received, ROOM, key, 0) == 1);
        received[at] ^= 1;
    }
}

static void other_passes_senders_and_sizes_do_not_pass_for_this_one(void)
{
    unsigned char received[1];
    for (int other = 1; other < 100; other++) {
        payload_fill(received, 1, payload_key(0, 1, other));
        CHECK(payload_differences(received, 1, payload_key(0, 1, 0), 0) == 1);
        payload_fill(received, 1, payload_key(other, 1, 0));
        CHECK(payload_differences(received, 1, payload_key(0, 1, 0), 0) == 1);
        payload_fill(received, 1, payload_key(0, 1 + other, 0));
        CHECK(payload_differences(received, 1, payload_key(0, 1, 0), 0) == 1);
    }
}

static void marks_spoil_what_arrived_before_in_few_places(void)
{
    const uint64_t key = payload_key(3, ROOM, 1);
    for (size_t bytes = 0; bytes <= ROOM; bytes++) {
        unsigned char received[ROOM];
        payload_fill(received, bytes, key);
        payload_mark(received, bytes, key, 0);
        const size_t differences = payload_differences(received, bytes, key, 0);
        CHECK(differences == (bytes < MARKS ? bytes : MARKS));
        if (bytes > 0) {
            CHECK(payload_differences(received, 1, key, 0) == 1);
            CHECK(payload_differences(received + bytes - 1, 1, key, bytes - 1) == 1);
        }
    }
}

int main(void)
{
    marks_spoil_what_arrived_before_in_few_places();
    what_arrives_is_recognised();
    a_part_of_the_send_buffer_is_recognised_at_any_offset();
    poison_differs_in_every_byte();
    one_wrong_byte_is_found();
    other_passes_senders_and_sizes_do_not_pass_for_this_one();
    return check_result();
}
