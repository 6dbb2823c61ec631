/* Cuts one block of memory into pieces. The same function computes the size of a layout and lays it
 * out. */
#ifndef SWITCHPOINT_SPACE_H
#define SWITCHPOINT_SPACE_H

#include <stddef.h>

struct space {
    unsigned char *block; /* NULL to compute only the size */
    size_t used;
};

/* The next `bytes`, aligned for any type and vector; NULL when only the size is computed. */
void *cut(struct space *space, size_t bytes);

#endif
