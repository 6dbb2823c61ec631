/* Allocations that end the job when they fail. */
#include "memory.h"

#include <mpi.h>
#include <stdlib.h>

#include "abort_job.h"
#include "exit_codes.h"

static _Noreturn void out_of_memory(size_t bytes)
{
    abort_job(MPI_COMM_WORLD, EXIT_USAGE, "switchpoint: out of memory for %zu bytes", bytes);
}

void *allocate(size_t count, size_t size)
{
    void *block = calloc(count > 0 ? count : 1, size);
    if (block == NULL) {
        out_of_memory(count * size);
    }
    return block;
}

void *reallocate(void *block, size_t bytes)
{
    void *grown = realloc(block, bytes);
    if (grown == NULL) {
        out_of_memory(bytes);
    }
    return grown;
}
