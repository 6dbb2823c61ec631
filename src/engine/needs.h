/* What a point needs on this rank: buffers, their copies, and requests. */
#ifndef SWITCHPOINT_NEEDS_H
#define SWITCHPOINT_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel.h"
#include "options.h"
#include "plan.h"

/* Messages in flight in modes that stream, at every size: --window, or as many of the largest size
 * as --window-kib allows, but at least one. */
int window_of(const struct options *options);

/* Sets the task to a point: its mode's variant, its message size and the window. A mode computes
 * its buffers only at points that suit it. */
void task_show(struct task *task, const struct options *options, const struct point *point);

/* The same at a point that suits its mode, and how many copies of its buffers take turns. */
void task_turn_to(struct task *task, const struct options *options, const struct point *point);

/* The same task with one copy of the buffers. */
struct task with_copy(const struct task *task, size_t copy);

/* Bytes of one copy of the send buffer. */
size_t sending_bytes(const struct mode *mode, const struct task *task);

struct needs {
    size_t send_bytes; /* all copies */
    size_t receive_bytes;
    size_t requests;
};

/* The most that any point of the plan needs. */
struct needs needs_of(const struct plan *plan, const struct options *options, struct task task);

/* The most that any of the plan's modes needs at any size up to the plan's largest. What a mode
 * needs for one copy must not shrink as its size grows. */
struct needs needs_up_to(const struct plan *plan, const struct options *options, struct task task);

/* Whether a mode, at the size that the task is set to, finds room for all that it needs. */
bool needs_fit(const struct task *task, const struct mode *mode, const struct needs *room);

#endif
