/* Problems that are square matrices: `size_bytes` is the size of one matrix. */
#ifndef SWITCHPOINT_MATRIX_H
#define SWITCHPOINT_MATRIX_H

#include "kernel.h"

/* n, for a matrix of n x n numbers. */
int matrix_order(const struct task *t, size_t number_bytes);

/* For `suits`: refuses sizes that no square matrix has, and names the nearest ones that do. */
bool suits_matrix(const struct task *t, size_t number_bytes, struct refusal *refusal);

#endif
