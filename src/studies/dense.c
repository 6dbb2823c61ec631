/* Dense matrices, stored column by column: the library's serial routines, input and comparison. */
#include "dense.h"

#include <cblas.h>
#include <math.h>

#include "input.h"

void factorize_whole(int n, double *matrix, lapack_int *pivots)
{
    LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, matrix, n, pivots);
}

void invert_whole(int n, double *matrix, lapack_int *pivots)
{
    factorize_whole(n, matrix, pivots);
    LAPACKE_dgetri(LAPACK_COL_MAJOR, n, matrix, n, pivots);
}

void multiply(int n, int columns, const double *left, const double *right, double *product)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, columns, n, 1, left, n, right, n, 0,
                product, n);
}

void write_matrix(int n, double *matrix, uint64_t key)
{
    for (int column = 0; column < n; column++) {
        double *entries = matrix + (size_t)column * (size_t)n;
        for (int row = 0; row < n; row++) {
            entries[row] = drawn_fraction(key, (uint64_t)column * (uint64_t)n + (uint64_t)row);
        }
        entries[(column + n / 3 + 1) % n] += n;
    }
}

struct verdict compare_matrices(int n, const double *result, const double *expected)
{
    const size_t count = (size_t)n * (size_t)n;
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(expected[i]));
    }
    struct verdict verdict = {0};
    for (size_t i = 0; i < count; i++) {
        verdict.compared++;
        verdict.wrong += !(fabs(result[i] - expected[i]) <= 1e-10 * largest);
    }
    return verdict;
}
