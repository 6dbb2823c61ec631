/* Linear equations (study 004): the LU factorization of a matrix, its inverse, and the product of
 * two matrices. All matrices are stored column by column. */
#include <cblas.h>
#include <lapacke.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "collectives.h"
#include "dense.h"
#include "lu.h"
#include "matrix.h"
#include "memory.h"
#include "space.h"

/* The pieces of the receive buffer. */
struct work {
    struct lu lu;        /* its factors have room for a whole matrix: also a product's left one */
    double *result;      /* on rank 0: the inverse or the product */
    double *share;       /* this rank's contiguous columns of the right side */
    double *product;     /* and of the product */
    struct part *shares; /* of the right side */
    size_t bytes;        /* of all pieces */
};

static struct work work_of(const struct task *t)
{
    struct space space = {.block = t->receive};
    const size_t whole = (size_t)count_of(t);
    const size_t share = (size_t)share_count(order(t), t->ranks, t->rank) * column_bytes(t);
    const size_t blocks = (size_t)lu_columns(t) * column_bytes(t);
    struct work work = {
        .lu.factors = cut(&space, whole),
        .result = cut(&space, t->rank == 0 ? whole : 0),
        .lu.blocks = cut(&space, blocks),
        .share = cut(&space, share),
        .product = cut(&space, share),
        .shares = cut(&space, (size_t)t->ranks * sizeof(struct part)),
        .lu.pivots = cut(&space, (size_t)order(t) * sizeof(lapack_int)),
    };
    work.bytes = space.used;
    return work;
}

static size_t work_bytes(const struct task *t)
{
    return work_of(t).bytes;
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

/* The parallel forms. */

static void factorize_in_parallel(const struct task *t)
{
    const struct work work = work_of(t);
    struct stopwatch watch = stopwatch_start();
    lu_deal(t, &work.lu);
    lap(&watch, t, DISTRIBUTE);
    lu_factorize(t, &work.lu, &watch);
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
    lu_deal(t, &work.lu);
    lap(&watch, t, DISTRIBUTE);

    lu_factorize(t, &work.lu, &watch);
    memset(work.share, 0, work.shares[t->rank].bytes);
    for (long column = 0; column < columns; column++) {
        work.share[column * n + first + column] = 1;
    }
    LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', n, (int)columns, work.lu.factors, n, work.lu.pivots,
                   work.share, n);
    lap(&watch, t, COMPUTE);

    collect(t, work.share, work.shares, work.result);
    lap(&watch, t, DISTRIBUTE);
}

/* Every rank gets the left matrix and its columns of the right one, and makes as many of the
 * product.
 */
static void multiply_in_parallel(const struct task *t)
{
    const struct work work = work_of(t);
    const int n = order(t);
    struct stopwatch watch = stopwatch_start();
    even_parts(work.shares, n, column_bytes(t), t->ranks);
    deal(t, right_input(t), work.shares, work.share);
    lap(&watch, t, DISTRIBUTE);

    if (t->rank == 0) {
        memcpy(work.lu.factors, t->send, (size_t)count_of(t));
    }
    broadcast(t, work.lu.factors, (size_t)count_of(t), 0);
    lap(&watch, t, EXCHANGE);
    multiply(n, (int)share_count(n, t->ranks, t->rank), work.lu.factors, work.share, work.product);
    lap(&watch, t, COMPUTE);

    collect(t, work.product, work.shares, work.result);
    lap(&watch, t, DISTRIBUTE);
}

static void factorize_serially(const struct task *t)
{
    const struct work work = work_of(t);
    memcpy(work.lu.factors, t->send, (size_t)count_of(t));
    factorize_whole(order(t), work.lu.factors, work.lu.pivots);
}

static void invert_serially(const struct task *t)
{
    const struct work work = work_of(t);
    memcpy(work.result, t->send, (size_t)count_of(t));
    invert_whole(order(t), work.result, work.lu.pivots);
}

static void multiply_serially(const struct task *t)
{
    multiply(order(t), order(t), left_input(t), right_input(t), work_of(t).result);
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

static struct verdict check_factors(const struct task *t, uint64_t key)
{
    const int n = order(t);
    struct verdict verdict = {0};
    if (t->rank == 0) {
        double *expected = allocate((size_t)n * (size_t)n, sizeof *expected);
        lapack_int *pivots = allocate((size_t)n, sizeof *pivots);
        write_matrix(n, expected, key);
        factorize_whole(n, expected, pivots);
        verdict = compare_matrices(n, work_of(t).lu.factors, expected);
        for (int i = 0; i < n; i++) {
            verdict.compared++;
            verdict.wrong += work_of(t).lu.pivots[i] != pivots[i];
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
        verdict = compare_matrices(n, work_of(t).result, expected);
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
        verdict = compare_matrices(n, work_of(t).result, expected);
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

static const char BASE[] = "the base case of the speed-up";

static const struct mode MODES[] = {
    {.name = "lu",
     .summary =
         "factors by blocks of columns (--block); time_us: from the matrix to the factors, both "
         "on rank 0",
     .source =
         "right-looking LU over cyclic columns, as in Golub and Van Loan 1996 (study 004: LU)",
     .run = run_on_all,
     .variant = &(const struct solver){factorize_in_parallel},
     .result = &FACTORS,
     .send_bytes = input_on_root,
     .suits = suits_numbers},
    {.name = "inv",
     .summary = "like lu, then each rank solves for its columns of the inverse",
     .source = "study 004: INV",
     .run = run_on_all,
     .variant = &(const struct solver){invert_in_parallel},
     .result = &INVERSE,
     .send_bytes = input_on_root,
     .suits = suits_numbers},
    {.name = "mult",
     .summary = "left matrix broadcast, columns of the right matrix divided over the ranks",
     .source = "study 004: MULT",
     .run = run_on_all,
     .variant = &(const struct solver){multiply_in_parallel},
     .result = &PRODUCT,
     .send_bytes = two_on_root,
     .suits = suits_numbers},
    {.name = "lu_serial",
     .summary = "LAPACK's dgetrf on rank 0 while the other ranks sleep",
     .source = BASE,
     .run = run_on_root,
     .variant = &(const struct solver){factorize_serially},
     .at_root = true,
     .result = &FACTORS,
     .send_bytes = input_on_root,
     .suits = suits_numbers},
    {.name = "inv_serial",
     .summary = "like lu_serial, with dgetrf and dgetri",
     .source = BASE,
     .run = run_on_root,
     .variant = &(const struct solver){invert_serially},
     .at_root = true,
     .result = &INVERSE,
     .send_bytes = input_on_root,
     .suits = suits_numbers},
    {.name = "mult_serial",
     .summary = "like lu_serial, with BLAS's dgemm",
     .source = BASE,
     .run = run_on_root,
     .variant = &(const struct solver){multiply_serially},
     .at_root = true,
     .result = &PRODUCT,
     .send_bytes = two_on_root,
     .suits = suits_numbers},
    {.name = "lu_one_rank",
     .summary = "lu on rank 0 alone while the other ranks sleep",
     .source = "shows beside lu_serial what the parallel form itself costs",
     .run = run_on_one_rank,
     .variant = &(const struct one_rank){factorize_in_parallel, &FACTORS},
     .at_root = true,
     .result = &RESULT_ON_ONE_RANK,
     .send_bytes = input_on_root,
     .suits = suits_numbers},
    {.name = "inv_one_rank",
     .summary = "inv on rank 0 alone while the other ranks sleep",
     .source = "shows beside inv_serial what the parallel form itself costs",
     .run = run_on_one_rank,
     .variant = &(const struct one_rank){invert_in_parallel, &INVERSE},
     .at_root = true,
     .result = &RESULT_ON_ONE_RANK,
     .send_bytes = input_on_root,
     .suits = suits_numbers},
    {.name = "mult_one_rank",
     .summary = "mult on rank 0 alone while the other ranks sleep",
     .source = "shows beside mult_serial what the parallel form itself costs",
     .run = run_on_one_rank,
     .variant = &(const struct one_rank){multiply_in_parallel, &PRODUCT},
     .at_root = true,
     .result = &RESULT_ON_ONE_RANK,
     .send_bytes = two_on_root,
     .suits = suits_numbers},
    {0},
};

static const struct kernel_option OPTIONS[] = {
    {.name = "--block",
     .value_name = "COLUMNS",
     .help = "columns that are factored at once (32)",
     .field = offsetof(struct lu_settings, block),
     .least = 1,
     .most = INT_MAX},
    {0},
};

int main(int argc, char **argv)
{
    struct lu_settings settings = {.block = 32};
    const struct kernel linear = {
        .name = "linear",
        .summary = "LU, INV and MULT of n x n numbers of 8 bytes; --sizes: bytes of one matrix",
        .modes = MODES,
        .sizes = "32K,128K,512K,2M",
        .options = OPTIONS,
        .settings = &settings,
    };
    openblas_set_num_threads(1); /* more cores are for more ranks */
    LAPACKE_set_nancheck(0);     /* it reads beyond submatrices, where the poison is a NaN */
    return application_main(argc, argv, linear);
}
