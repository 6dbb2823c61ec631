/* Linear equations (study 004): LU factorization of a matrix dealt out in blocks of columns, its
 * inverse, and the product of two matrices. All matrices are stored column by column. */
#include <cblas.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "input.h"
#include "matrix.h"
#include "memory.h"
#include "patterns.h"
#include "space.h"

struct settings {
    long block; /* columns */
};

static int order(const struct task *t)
{
    return matrix_order(t, sizeof(double));
}

static size_t column_bytes(const struct task *t)
{
    return (size_t)order(t) * sizeof(double);
}

/* Blocks of columns are dealt out like cards, so that all ranks have work to the end. */
static int block_columns(const struct task *t)
{
    const struct settings *settings = t->settings;
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

/* The receive buffer, piece by piece. */
struct work {
    double *whole;   /* a copy on each rank: the factors, L below U; or a product's left matrix */
    double *result;  /* on rank 0: the inverse or the product */
    double *blocks;  /* this rank's blocks of columns */
    double *share;   /* this rank's contiguous columns of the right side */
    double *product; /* and of the product */
    struct part *shares; /* of the right side */
    lapack_int *pivots;  /* row i changed places with row pivots[i], both counted from 1 */
};

static struct work lay_out(const struct task *t, struct space *space)
{
    const size_t whole = (size_t)t->size_bytes;
    const size_t share = (size_t)share_count(order(t), t->ranks, t->rank) * column_bytes(t);
    const size_t blocks = (size_t)columns_among(t, block_count(t)) * column_bytes(t);
    return (struct work){
        .whole = cut(space, whole),
        .result = cut(space, t->rank == 0 ? whole : 0),
        .blocks = cut(space, blocks),
        .share = cut(space, share),
        .product = cut(space, share),
        .shares = cut(space, (size_t)t->ranks * sizeof(struct part)),
        .pivots = cut(space, (size_t)order(t) * sizeof(lapack_int)),
    };
}

static struct work work_of(const struct task *t)
{
    struct space space = {.block = t->receive};
    return lay_out(t, &space);
}

static size_t work_bytes(const struct task *t)
{
    struct space space = {0};
    lay_out(t, &space);
    return space.used;
}

/* On rank 0: the matrix, and the one that it is multiplied by. */
static double *left_input(const struct task *t)
{
    return (double *)(void *)t->send;
}

static double *right_input(const struct task *t)
{
    return left_input(t) + (size_t)order(t) * (size_t)order(t);
}

/* The serial forms, of the library's own: base cases of the speed-ups, and references. */

static void factorize_whole(int n, double *matrix, lapack_int *pivots)
{
    LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, matrix, n, pivots);
}

static void invert_whole(int n, double *matrix, lapack_int *pivots)
{
    factorize_whole(n, matrix, pivots);
    LAPACKE_dgetri(LAPACK_COL_MAJOR, n, matrix, n, pivots);
}

/* Of the right matrix `columns` columns, for as many of the product. */
static void multiply(int n, int columns, const double *left, const double *right, double *product)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, columns, n, 1, left, n, right, n, 0,
                product, n);
}

/* The parallel forms. */

/* Block k of rank 0's matrix to its owner. */
static void deal_blocks(const struct task *t, const struct work *w)
{
    const size_t block_bytes = (size_t)block_columns(t) * column_bytes(t);
    unsigned char *next = (unsigned char *)w->blocks;
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

/* What the panel's pivots did to its own rows, done to some columns. */
static void swap_rows(int n, const struct panel *panel, int columns, double *matrix)
{
    LAPACKE_dlaswp(LAPACK_COL_MAJOR, columns, matrix + panel->first, n, 1, panel->width,
                   panel->pivots, 1);
}

/* Takes a factored panel into account in columns to its right: rows of U, then what is left. */
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

/* Right-looking, with partial pivoting. Blocks are broadcast whole, with U's part of them, so that
 * in the end every rank has all factors. */
static void factorize(const struct task *t, const struct work *w, struct stopwatch *watch)
{
    const int n = order(t);
    const int columns = columns_among(t, block_count(t));
    for (int block = 0; block < block_count(t); block++) {
        const int owner = owner_of(t, block);
        const int first = block * block_columns(t);
        const int width = n - first < block_columns(t) ? n - first : block_columns(t);
        double *factors = w->whole + (size_t)first * (size_t)n;
        lapack_int *pivots = w->pivots + first;
        if (t->rank == owner) {
            double *mine = w->blocks + (size_t)columns_among(t, block) * (size_t)n;
            LAPACKE_dgetrf(LAPACK_COL_MAJOR, n - first, width, mine + first, n, pivots);
            memcpy(factors, mine, (size_t)width * column_bytes(t));
        }
        lap(watch, t, COMPUTE);
        broadcast(t, factors, (size_t)width * column_bytes(t), owner);
        broadcast(t, pivots, (size_t)width * sizeof *pivots, owner);
        lap(watch, t, EXCHANGE);

        const struct panel panel = {first, width, pivots};
        const int done = columns_among(t, block + 1);
        double *rest = w->blocks + (size_t)done * (size_t)n;
        swap_rows(n, &panel, first, w->whole);
        swap_rows(n, &panel, columns - done, rest);
        update(n, &panel, w->whole, columns - done, rest);
        for (int i = 0; i < width; i++) {
            pivots[i] += first;
        }
    }
    lap(watch, t, COMPUTE);
}

static void factorize_in_parallel(const struct task *t)
{
    const struct work work = work_of(t);
    struct stopwatch watch = stopwatch_start();
    deal_blocks(t, &work);
    lap(&watch, t, DISTRIBUTE);
    factorize(t, &work, &watch);
}

/* With all factors on every rank, each solves A X = I for its columns of X. */
static void invert_in_parallel(const struct task *t)
{
    const struct work work = work_of(t);
    const int n = order(t);
    const long first = share_start(n, t->ranks, t->rank);
    const long columns = share_count(n, t->ranks, t->rank);
    struct stopwatch watch = stopwatch_start();
    even_parts(work.shares, n, column_bytes(t), t->ranks);
    deal_blocks(t, &work);
    lap(&watch, t, DISTRIBUTE);

    factorize(t, &work, &watch);
    memset(work.share, 0, work.shares[t->rank].bytes);
    for (long column = 0; column < columns; column++) {
        work.share[column * n + first + column] = 1;
    }
    LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', n, (int)columns, work.whole, n, work.pivots, work.share,
                   n);
    lap(&watch, t, COMPUTE);

    collect(t, work.share, work.shares, work.result);
    lap(&watch, t, DISTRIBUTE);
}

/* The left matrix for all, of the right one each its columns, for as many of the product. */
static void multiply_in_parallel(const struct task *t)
{
    const struct work work = work_of(t);
    const int n = order(t);
    struct stopwatch watch = stopwatch_start();
    even_parts(work.shares, n, column_bytes(t), t->ranks);
    deal(t, right_input(t), work.shares, work.share);
    lap(&watch, t, DISTRIBUTE);

    if (t->rank == 0) {
        memcpy(work.whole, t->send, (size_t)t->size_bytes);
    }
    broadcast(t, work.whole, (size_t)t->size_bytes, 0);
    lap(&watch, t, EXCHANGE);
    multiply(n, (int)share_count(n, t->ranks, t->rank), work.whole, work.share, work.product);
    lap(&watch, t, COMPUTE);

    collect(t, work.product, work.shares, work.result);
    lap(&watch, t, DISTRIBUTE);
}

static void factorize_serially(const struct task *t)
{
    const struct work work = work_of(t);
    memcpy(work.whole, t->send, (size_t)t->size_bytes);
    factorize_whole(order(t), work.whole, work.pivots);
}

static void invert_serially(const struct task *t)
{
    const struct work work = work_of(t);
    memcpy(work.result, t->send, (size_t)t->size_bytes);
    invert_whole(order(t), work.result, work.pivots);
}

static void multiply_serially(const struct task *t)
{
    multiply(order(t), order(t), left_input(t), right_input(t), work_of(t).result);
}

#define RUN(mode, solve, solve_serially)                                                           \
    static void run_##mode(const struct task *t, long iterations)                                  \
    {                                                                                              \
        run_on_all(t, iterations, solve);                                                          \
    }                                                                                              \
    static void run_##mode##_serial(const struct task *t, long iterations)                         \
    {                                                                                              \
        run_on_root(t, iterations, solve_serially);                                                \
    }

RUN(lu, factorize_in_parallel, factorize_serially)
RUN(inv, invert_in_parallel, invert_serially)
RUN(mult, multiply_in_parallel, multiply_serially)

/* Even numbers around 0, and in each column one that is larger than all, below the diagonal: every
 * pivot is clear and nearly every one swaps rows. */
static void write_matrix(int n, double *matrix, uint64_t key)
{
    for (int column = 0; column < n; column++) {
        double *entries = matrix + (size_t)column * (size_t)n;
        for (int row = 0; row < n; row++) {
            entries[row] = drawn_fraction(key, (uint64_t)column * (uint64_t)n + (uint64_t)row);
        }
        entries[(column + n / 3 + 1) % n] += n;
    }
}

static void fill_one(const struct task *t, uint64_t key)
{
    if (t->rank == 0) {
        write_matrix(order(t), left_input(t), key);
    }
}

static void fill_two(const struct task *t, uint64_t key)
{
    if (t->rank == 0) {
        write_matrix(order(t), left_input(t), key);
        write_matrix(order(t), right_input(t), ~key);
    }
}

/* Number by number; what differs by rounding is some epsilons of the largest. */
static struct verdict compare(int n, const double *result, const double *expected)
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

static struct verdict check_factors(const struct task *t, uint64_t key)
{
    const int n = order(t);
    struct verdict verdict = {0};
    if (t->rank == 0) {
        double *expected = allocate((size_t)n * (size_t)n, sizeof *expected);
        lapack_int *pivots = allocate((size_t)n, sizeof *pivots);
        write_matrix(n, expected, key);
        factorize_whole(n, expected, pivots);
        verdict = compare(n, work_of(t).whole, expected);
        for (int i = 0; i < n; i++) {
            verdict.compared++;
            verdict.wrong += work_of(t).pivots[i] != pivots[i];
        }
        free(pivots);
        free(expected);
    }
    return verdict;
}

static struct verdict check_inverse(const struct task *t, uint64_t key)
{
    const int n = order(t);
    struct verdict verdict = {0};
    if (t->rank == 0) {
        double *expected = allocate((size_t)n * (size_t)n, sizeof *expected);
        lapack_int *pivots = allocate((size_t)n, sizeof *pivots);
        write_matrix(n, expected, key);
        invert_whole(n, expected, pivots);
        verdict = compare(n, work_of(t).result, expected);
        free(pivots);
        free(expected);
    }
    return verdict;
}

static struct verdict check_product(const struct task *t, uint64_t key)
{
    const int n = order(t);
    const size_t count = (size_t)n * (size_t)n;
    struct verdict verdict = {0};
    if (t->rank == 0) {
        double *left = allocate(count, sizeof *left);
        double *right = allocate(count, sizeof *right);
        double *expected = allocate(count, sizeof *expected);
        write_matrix(n, left, key);
        write_matrix(n, right, ~key);
        multiply(n, n, left, right, expected);
        verdict = compare(n, work_of(t).result, expected);
        free(expected);
        free(right);
        free(left);
    }
    return verdict;
}

static size_t two_on_root(const struct task *t)
{
    return 2 * input_on_root(t);
}

static bool suits_numbers(const struct task *t, struct refusal *refusal)
{
    return suits_matrix(t, sizeof(double), refusal);
}

static const struct result FACTORS = {work_bytes, fill_one, check_factors};
static const struct result INVERSE = {work_bytes, fill_one, check_inverse};
static const struct result PRODUCT = {work_bytes, fill_two, check_product};

#define MODE(mode_name, mode_summary, mode_source, mode_result, mode_input, alone)                 \
    {                                                                                              \
        .name = #mode_name, .summary = (mode_summary), .source = (mode_source),                    \
        .run = run_##mode_name, .result = &(mode_result), .send_bytes = (mode_input),              \
        .suits = suits_numbers, .at_root = (alone)                                                 \
    }
#define BASE "the base case of the speed-up"

static const struct mode MODES[] = {
    MODE(lu,
         "factors by blocks of columns (--block); time_us: from the matrix to the factors, "
         "both on rank 0",
         "right-looking LU over cyclic columns, as in Golub and Van Loan 1996 (study 004: LU)",
         FACTORS, input_on_root, false),
    MODE(inv, "the same, then each rank solves for its columns of the inverse", "study 004: INV",
         INVERSE, input_on_root, false),
    MODE(mult, "left matrix broadcast, columns of the right one dealt out", "study 004: MULT",
         PRODUCT, two_on_root, false),
    MODE(lu_serial, "LAPACK's dgetrf on rank 0 while the others sleep", BASE, FACTORS,
         input_on_root, true),
    MODE(inv_serial, "dgetrf and dgetri likewise", BASE, INVERSE, input_on_root, true),
    MODE(mult_serial, "BLAS's dgemm likewise", BASE, PRODUCT, two_on_root, true),
    {0},
};

static bool accept_block(void *settings, const char *value, struct refusal *refusal)
{
    return accept_number("--block", value, 1, INT_MAX, &((struct settings *)settings)->block,
                         refusal);
}

static const struct kernel_option OPTIONS[] = {
    {"--block", "COLUMNS", "columns that are factored at once (32)", accept_block},
    {0},
};

int main(int argc, char **argv)
{
    struct settings settings = {.block = 32};
    const struct kernel linear = {
        .name = "linear",
        .summary = "LU, INV and MULT of n x n numbers of 8 bytes; --sizes: bytes of one matrix",
        .modes = MODES,
        .sizes = "32K,128K,512K,2M",
        .options = OPTIONS,
        .settings = &settings,
    };
    openblas_set_num_threads(1); /* more cores are for more ranks */
    LAPACKE_set_nancheck(0);     /* it reads beyond submatrices, where the poison is NaN */
    return application_main(argc, argv, linear);
}
