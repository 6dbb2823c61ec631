/* Cuts one block of memory into pieces: the same function sizes a layout and lays it out. */
#ifndef SWITCHPOINT_SPACE_H
#define SWITCHPOINT_SPACE_H

#include <stddef.h>

struct space {
    unsigned char *block; /* NULL while the layout is only being sized */
    size_t used;
};

/* The next `bytes`, aligned for any type and vector. NULL while the layout is being sized. */
void *cut(struct space *space, size_t bytes);

#endif
