/* Input, poison and verification of one copy of a point's buffers. */
#include "verification.h"

#include <string.h>

#include "needs.h"
#include "payload.h"

/* One key for all ranks, so that each knows the input of the others. */
static uint64_t input_key(const struct task *task, int pass)
{
    return payload_key(0, task->size_bytes, pass);
}

void input_fill(const struct task *task, const struct mode *mode, int pass)
{
    if (mode->result != NULL) {
        mode->result->fill(task, input_key(task, pass));
    } else {
        payload_fill(task->send, sending_bytes(mode, task),
                     payload_key(task->rank, task->size_bytes, pass));
    }
}

/* Whole numbers of 8 bytes, or parts of them, since elements of a result have up to 8. */
static void mark_result(unsigned char *buffer, size_t bytes)
{
    enum { WORD = 8 };
    for (size_t i = 0; i < MARKS && bytes > 0; i++) {
        const size_t place = (bytes - 1) / WORD * i / (MARKS - 1) * WORD;
        memset(buffer + place, 0xFF, bytes - place < WORD ? bytes - place : WORD);
    }
}

void output_poison(const struct task *task, const struct mode *mode, int pass)
{
    if (mode->result != NULL) {
        memset(task->receive, 0xFF, mode->result->bytes(task));
        return;
    }
    struct arrival arrival;
    for (int i = 0; mode->arrival(task, i, &arrival); i++) {
        payload_poison(task->receive + arrival.offset, arrival.bytes,
                       payload_key(arrival.sender, task->size_bytes, pass), arrival.sent_offset);
    }
}

void output_mark(const struct task *task, const struct mode *mode, int pass)
{
    if (mode->result != NULL) {
        mark_result(task->receive, mode->result->bytes(task));
        return;
    }
    struct arrival arrival;
    for (int i = 0; mode->arrival(task, i, &arrival); i++) {
        payload_mark(task->receive + arrival.offset, arrival.bytes,
                     payload_key(arrival.sender, task->size_bytes, pass), arrival.sent_offset);
    }
}

void output_verify(const struct task *task, struct point *point, int pass)
{
    if (point->mode->result != NULL) {
        const struct verdict verdict = point->mode->result->check(task, input_key(task, pass));
        point->counts.payloads += verdict.compared;
        point->counts.payload_errors += verdict.wrong;
        return;
    }
    struct arrival arrival;
    for (int i = 0; point->mode->arrival(task, i, &arrival); i++) {
        if (arrival.bytes == 0) {
            continue; /* nothing to compare */
        }
        const uint64_t key = payload_key(arrival.sender, task->size_bytes, pass);
        point->counts.payloads++;
        point->counts.payload_errors +=
            payload_differences(task->receive + arrival.offset, arrival.bytes, key,
                                arrival.sent_offset) > 0;
    }
}
