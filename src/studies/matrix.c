/* Problems that are square matrices: which sizes they have. */
#include "matrix.h"

#include <math.h>

int matrix_order(const struct task *t, size_t number_bytes)
{
    return (int)sqrt((double)count_of(t) / (double)number_bytes);
}

bool suits_matrix(const struct task *t, size_t number_bytes, struct refusal *refusal)
{
    const size_t n = (size_t)matrix_order(t, number_bytes);
    const size_t bytes = n * n * number_bytes;
    if (n > 0 && bytes == (size_t)count_of(t)) {
        return true;
    }
    const size_t above = (n + 1) * (n + 1) * number_bytes;
    return n > 0 ? refuse(refusal,
                          "--sizes: %d bytes are not a square matrix of numbers of %zu bytes; use "
                          "%zu (n = %zu) or %zu (n = %zu)",
                          count_of(t), number_bytes, bytes, n, above, n + 1)
                 : refuse(refusal, "--sizes: %d bytes hold no matrix; use %zu (one number) or more",
                          count_of(t), above);
}
