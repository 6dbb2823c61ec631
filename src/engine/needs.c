/* What a point needs on this rank: buffers, their copies, and requests. */
#include "needs.h"

#include <unistd.h>

static void make_copies(struct task *task, const struct mode *mode, size_t rotated_bytes);
static size_t receiving_bytes(const struct mode *mode, const struct task *task);

void task_turn_to(struct task *task, const struct options *options, const struct point *point)
{
    const long fitting =
        options->window_kib * 1024 / (point->size_bytes > 0 ? point->size_bytes : 1);
    const long bounded = fitting < options->window ? fitting : options->window;
    task->variant = point->mode->variant;
    task->size_bytes = point->size_bytes;
    task->window = (int)(bounded > 1 ? bounded : 1);
    make_copies(task, point->mode, (size_t)options->rotate_mib << 20);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* A copy starts on a page of its own, which no prefetcher enters before the copy's turn. All copies
 * together then compete for a cache as if they filled `rotated_bytes`, whatever the message size.
 */
static void make_copies(struct task *task, const struct mode *mode, size_t rotated_bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t largest = larger(sending_bytes(mode, task), receiving_bytes(mode, task));
    task->turn = 0;
    task->copies = 1;
    task->copy_bytes = (largest / page + 1) * page;
    while (task->copies * task->copy_bytes < rotated_bytes) {
        task->copies *= 2;
    }
}

struct task with_copy(const struct task *task, size_t copy)
{
    struct task turned = *task;
    turned.send += copy * task->copy_bytes;
    turned.receive += copy * task->copy_bytes;
    return turned;
}

size_t sending_bytes(const struct mode *mode, const struct task *task)
{
    return mode->send_bytes != NULL ? mode->send_bytes(task) : (size_t)task->size_bytes;
}

static size_t receiving_bytes(const struct mode *mode, const struct task *task)
{
    if (mode->result != NULL) {
        return mode->result->bytes(task);
    }
    size_t needed = 0;
    struct arrival arrival;
    for (int i = 0; mode->arrival(task, i, &arrival); i++) {
        needed = larger(needed, arrival.offset + arrival.bytes);
    }
    return needed;
}

static size_t requests_needed(const struct mode *mode, const struct task *task)
{
    return mode->requests != NULL ? mode->requests(task) : (size_t)task->window;
}

struct needs needs_of(const struct plan *plan, const struct options *options, struct task task)
{
    struct needs needs = {0};
    for (size_t i = 0; i < plan->count; i++) {
        const struct mode *mode = plan->points[i].mode;
        task_turn_to(&task, options, &plan->points[i]);
        const size_t other_copies = (task.copies - 1) * task.copy_bytes;
        needs.send_bytes = larger(needs.send_bytes, other_copies + sending_bytes(mode, &task));
        needs.receive_bytes =
            larger(needs.receive_bytes, other_copies + receiving_bytes(mode, &task));
        needs.requests = larger(needs.requests, requests_needed(mode, &task));
    }
    return needs;
}
