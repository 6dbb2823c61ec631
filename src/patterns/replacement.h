/* For modes that replace one collective of the library by others (self-consistent guidelines). */
#ifndef SWITCHPOINT_REPLACEMENT_H
#define SWITCHPOINT_REPLACEMENT_H

#include <limits.h>

#include "kernel.h"

/* Their `source`. */
#define GUIDELINES "Traeff, Gropp, Thakur 2010: self-consistent MPI performance guidelines"

/* `suits` of modes in which one call takes the messages of all ranks: its count is an int. */
static inline bool suits_one_call(const struct task *task, struct refusal *refusal)
{
    return task->size_bytes <= INT_MAX / task->ranks ||
           refuse(refusal,
                  "--sizes: %lld B from each of %d ranks are more than the %d B that one call "
                  "takes; use smaller sizes, or leave replacements out of --mode",
                  (long long)task->size_bytes, task->ranks, INT_MAX);
}

#endif
