/* Cuts one block of memory into pieces. */
#include "space.h"

void *cut(struct space *space, size_t bytes)
{
    static const size_t ALIGNMENT = 64;
    unsigned char *piece = space->block != NULL ? space->block + space->used : NULL;
    space->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return piece;
}
