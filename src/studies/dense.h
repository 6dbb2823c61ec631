/* Dense matrices, stored column by column: the library's serial routines, input and comparison. */
#ifndef SWITCHPOINT_DENSE_H
#define SWITCHPOINT_DENSE_H

#include <lapacke.h>

#include "kernel.h"

/* These are the base cases of the speed-ups, and the references for the results. */
void factorize_whole(int n, double *matrix, lapack_int *pivots);
void invert_whole(int n, double *matrix, lapack_int *pivots);

/* Multiplies `columns` columns of the right matrix, which gives as many of the product. */
void multiply(int n, int columns, const double *left, const double *right, double *product);

/* Uniform numbers around 0, and in each column one number below the diagonal that is larger than
 * all others: every pivot is clear, and nearly every pivot swaps rows. */
void write_matrix(int n, double *matrix, uint64_t key);

/* Compares number by number; rounding errors are a few epsilons of the largest number. */
struct verdict compare_matrices(int n, const double *result, const double *expected);

#endif
