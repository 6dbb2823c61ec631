/* Square matrices as problems: `size_bytes` is that of one matrix. */
#ifndef SWITCHPOINT_MATRIX_H
#define SWITCHPOINT_MATRIX_H

#include "engine.h"

/* n, for a matrix of n x n numbers. */
int matrix_order(const struct task *t, size_t number_bytes);

/* For `suits`: refuses sizes that are those of no matrix, and names the nearest that are. */
bool suits_matrix(const struct task *t, size_t number_bytes, struct refusal *refusal);

#endif
