/* What a point needs on this rank: buffers, their copies, and requests. */
#include "needs.h"

#include <unistd.h>

static void make_copies(struct task *task, const struct mode *mode, size_t rotated_bytes);
static size_t receiving_bytes(const struct mode *mode, const struct task *task);

/* The same at every size: a window that shrank as messages grow would put steps of its own into the
 * curve. */
int window_of(const struct options *options)
{
    const long largest_bytes = options->sizes.bytes[options->sizes.count - 1];
    const long fitting = options->window_kib * 1024 / (largest_bytes > 0 ? largest_bytes : 1);
    const long bounded = fitting < options->window ? fitting : options->window;
    return (int)(bounded > 1 ? bounded : 1);
}

void task_show(struct task *task, const struct options *options, const struct point *point)
{
    task->variant = point->mode->variant;
    task->size_bytes = point->size_bytes;
    task->window = window_of(options);
}

void task_turn_to(struct task *task, const struct options *options, const struct point *point)
{
    task_show(task, options, point);
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

/* Of all copies together. */
static struct needs needs_at(const struct task *task, const struct mode *mode)
{
    const size_t other_copies = (task->copies - 1) * task->copy_bytes;
    return (struct needs){
        .send_bytes = other_copies + sending_bytes(mode, task),
        .receive_bytes = other_copies + receiving_bytes(mode, task),
        .requests = requests_needed(mode, task),
    };
}

static struct needs larger_needs(struct needs a, struct needs b)
{
    return (struct needs){
        .send_bytes = larger(a.send_bytes, b.send_bytes),
        .receive_bytes = larger(a.receive_bytes, b.receive_bytes),
        .requests = larger(a.requests, b.requests),
    };
}

struct needs needs_of(const struct plan *plan, const struct options *options, struct task task)
{
    struct needs needs = {0};
    for (size_t i = 0; i < plan->count; i++) {
        task_turn_to(&task, options, &plan->points[i]);
        needs = larger_needs(needs, needs_at(&task, plan->points[i].mode));
    }
    return needs;
}

/* Of one copy, a mode needs most at its largest size. Copies are doubled until they fill the bytes
 * to rotate through: together they are less than twice that, and one copy more than fills it where
 * a message is larger. */
struct needs needs_up_to(const struct plan *plan, const struct options *options, struct task task)
{
    const size_t rotated_bytes = (size_t)options->rotate_mib << 20;
    struct needs needs = {.send_bytes = 2 * rotated_bytes, .receive_bytes = 2 * rotated_bytes};
    for (size_t i = 0; i < plan->count; i++) {
        task_turn_to(&task, options, &plan->points[i]);
        task.copies = 1;
        needs = larger_needs(needs, needs_at(&task, plan->points[i].mode));
    }
    return needs;
}

bool needs_fit(const struct task *task, const struct mode *mode, const struct needs *room)
{
    const struct needs needs = needs_at(task, mode);
    return needs.send_bytes <= room->send_bytes && needs.receive_bytes <= room->receive_bytes &&
           needs.requests <= room->requests;
}
