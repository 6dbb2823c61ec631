/* Allocations that end the job when they fail. */
#ifndef SWITCHPOINT_MEMORY_H
#define SWITCHPOINT_MEMORY_H

#include <stddef.h>

/* `count` zeroed elements of `size` bytes. Never NULL: aborts the job when memory is out. */
void *allocate(size_t count, size_t size);

/* Grows a block to `bytes`. Never NULL: aborts the job when memory is out. */
void *reallocate(void *block, size_t bytes);

#endif
