/* Parallel LU factorization of a matrix whose blocks of columns the ranks take in turn. Matrices
 * are stored column by column. */
#ifndef SWITCHPOINT_LU_H
#define SWITCHPOINT_LU_H

#include <lapacke.h>

#include "application.h"

/* The settings of the application. */
struct lu_settings {
    long block; /* columns */
};

struct lu {
    double *factors;    /* on each rank in the end: the factors, L below U */
    double *blocks;     /* this rank's blocks of columns */
    lapack_int *pivots; /* row i changed places with row pivots[i], both counted from 1 */
};

/* n, for a matrix of n x n numbers. */
int order(const struct task *t);
size_t column_bytes(const struct task *t);

/* Columns in all blocks of this rank. */
int lu_columns(const struct task *t);

/* Collective. Sends each block of rank 0's matrix, which is in the send buffer, to its owner. */
void lu_deal(const struct task *t, const struct lu *lu);

/* Collective. Factors the blocks; every rank gets all factors. */
void lu_factorize(const struct task *t, const struct lu *lu, struct stopwatch *watch);

#endif
