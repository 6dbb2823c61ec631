/* Parallel LU factorization of a matrix whose blocks of columns the ranks take in turn. */
#include "lu.h"

#include <cblas.h>
#include <string.h>

#include "collectives.h"
#include "matrix.h"

int order(const struct task *t)
{
    return matrix_order(t, sizeof(double));
}

size_t column_bytes(const struct task *t)
{
    return (size_t)order(t) * sizeof(double);
}

/* The ranks take the blocks in turn, so that all of them have work until the end. */
static int block_columns(const struct task *t)
{
    const struct lu_settings *settings = t->settings;
    return settings->block < order(t) ? (int)settings->block : order(t);
}

static int block_count(const struct task *t)
{
    return (order(t) + block_columns(t) - 1) / block_columns(t);
}

static int owner_of(const struct task *t, int block)
{
    return block % t->ranks;
}

/* Columns of this rank's blocks among the first `blocks`; the last block may be narrow. */
static int columns_among(const struct task *t, int blocks)
{
    const int owned = (blocks - t->rank + t->ranks - 1) / t->ranks;
    const int beyond = blocks * block_columns(t) - order(t);
    const bool has_last = blocks > 0 && owner_of(t, blocks - 1) == t->rank;
    return owned * block_columns(t) - (has_last && beyond > 0 ? beyond : 0);
}

int lu_columns(const struct task *t)
{
    return columns_among(t, block_count(t));
}

void lu_deal(const struct task *t, const struct lu *lu)
{
    const size_t block_bytes = (size_t)block_columns(t) * column_bytes(t);
    unsigned char *next = (unsigned char *)lu->blocks;
    for (int block = 0; block < block_count(t); block++) {
        const int owner = owner_of(t, block);
        const size_t offset = (size_t)block * block_bytes;
        const size_t left = (size_t)t->size_bytes - offset;
        const size_t bytes = left < block_bytes ? left : block_bytes;
        if (t->rank == owner) {
            if (owner == 0) {
                memcpy(next, t->send + offset, bytes);
            } else {
                receive_from(t, next, bytes, 0);
            }
            next += bytes;
        } else if (t->rank == 0) {
            send_to(t, t->send + offset, bytes, owner);
        }
    }
}

/* A block of columns from the diagonal on: `first` is its first row and column. */
struct panel {
    int first;
    int width;
    const lapack_int *pivots;
};

/* Swaps the rows of some columns as the pivots swapped those of the panel. */
static void swap_rows(int n, const struct panel *panel, int columns, double *matrix)
{
    LAPACKE_dlaswp(LAPACK_COL_MAJOR, columns, matrix + panel->first, n, 1, panel->width,
                   panel->pivots, 1);
}

/* Updates columns to the right of a factored panel: first their rows of U, then the rows below. */
static void update(int n, const struct panel *panel, const double *factors, int columns,
                   double *matrix)
{
    const int below = panel->first + panel->width;
    const double *diagonal = factors + (size_t)panel->first * (size_t)n + panel->first;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, panel->width,
                columns, 1, diagonal, n, matrix + panel->first, n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n - below, columns, panel->width, -1,
                diagonal + panel->width, n, matrix + panel->first, n, 1, matrix + below, n);
}

/* A pivot of a panel is a row from its own one on, both counted from the panel's first row, which
 * is 1. */
static void check_pivots(const struct task *t, const struct panel *panel)
{
    for (int i = 0; i < panel->width; i++) {
        if (panel->pivots[i] <= i || panel->pivots[i] > order(t) - panel->first) {
            arrived_wrong(t, "a pivot");
        }
    }
}

/* Right-looking, with partial pivoting. Each block is broadcast whole, with its part of U, so that
 * in the end every rank has all factors. */
void lu_factorize(const struct task *t, const struct lu *lu, struct stopwatch *watch)
{
    const int n = order(t);
    const int columns = lu_columns(t);
    for (int block = 0; block < block_count(t); block++) {
        const int owner = owner_of(t, block);
        const int first = block * block_columns(t);
        const int width = n - first < block_columns(t) ? n - first : block_columns(t);
        double *factors = lu->factors + (size_t)first * (size_t)n;
        lapack_int *pivots = lu->pivots + first;
        if (t->rank == owner) {
            double *mine = lu->blocks + (size_t)columns_among(t, block) * (size_t)n;
            LAPACKE_dgetrf(LAPACK_COL_MAJOR, n - first, width, mine + first, n, pivots);
            memcpy(factors, mine, (size_t)width * column_bytes(t));
        }
        lap(watch, t, COMPUTE);
        broadcast(t, factors, (size_t)width * column_bytes(t), owner);
        broadcast(t, pivots, (size_t)width * sizeof *pivots, owner);
        lap(watch, t, EXCHANGE);

        const struct panel panel = {first, width, pivots};
        check_pivots(t, &panel);
        const int done = columns_among(t, block + 1);
        const int left = columns - done;
        double *rest = lu->blocks + (size_t)done * (size_t)n;
        swap_rows(n, &panel, first, lu->factors);
        swap_rows(n, &panel, left, rest);
        update(n, &panel, lu->factors, left, rest);
        for (int i = 0; i < width; i++) {
            pivots[i] += first;
        }
    }
    lap(watch, t, COMPUTE);
}
