/* Two-dimensional FFT: each rank transforms its rows, an all-to-all transposes the matrix,
 * each rank transforms what were columns, and a second exchange transposes the matrix back. */
#include <complex.h> /* before fftw3.h, which then takes C's own complex type */
#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "collectives.h"
#include "input.h"
#include "matrix.h"
#include "memory.h"
#include "space.h"

typedef double complex number;

static int order(const struct task *t)
{
    return matrix_order(t, sizeof(number));
}

/* The pieces of the receive buffer. */
struct work {
    number *result;      /* on rank 0: the transform, row by row */
    number *rows;        /* this rank's share of them */
    number *packed;      /* the same, block by block: a block for each rank */
    number *arrived;     /* blocks that came, one from each rank */
    struct part *shares; /* of the matrix */
    struct part *blocks; /* of `packed` and of `arrived` */
    size_t bytes;        /* of all pieces */
};

static struct work work_of(const struct task *t)
{
    struct space space = {.block = t->receive};
    const size_t n = (size_t)order(t);
    const size_t share = (size_t)share_count((long)n, t->ranks, t->rank) * n * sizeof(number);
    struct work work = {
        .result = cut(&space, t->rank == 0 ? n * n * sizeof(number) : 0),
        .rows = cut(&space, share),
        .packed = cut(&space, share),
        .arrived = cut(&space, share),
        .shares = cut(&space, (size_t)t->ranks * sizeof(struct part)),
        .blocks = cut(&space, (size_t)t->ranks * sizeof(struct part)),
    };
    work.bytes = space.used;
    return work;
}

static size_t work_bytes(const struct task *t)
{
    return work_of(t).bytes;
}

/* Made before the runs, for buffers that do not move. All plans are measured: FFTW tries several
 * and keeps the fastest, for the serial base as for the rows. It overwrites the buffers meanwhile,
 * and later passes find what it has learnt. */
struct state {
    fftw_plan plan;
};
static const unsigned PLANNING = FFTW_MEASURE;

static void execute_plan(const struct task *t)
{
    const struct state *state = t->state;
    fftw_execute(state->plan);
}

static void plan_rows(const struct task *t)
{
    const int n = order(t);
    const int rows = (int)share_count(n, t->ranks, t->rank);
    fftw_complex *mine = work_of(t).rows;
    struct state *state = t->state;
    state->plan =
        fftw_plan_many_dft(1, &n, rows, mine, NULL, 1, n, mine, NULL, 1, n, FFTW_FORWARD, PLANNING);
}

static void plan_rows_on_one_rank(const struct task *t)
{
    const struct task alone = on_one_rank(t);
    struct state *state = t->state;
    state->plan = NULL;
    if (t->rank == 0) {
        plan_rows(&alone);
    }
}

static void plan_matrix(const struct task *t)
{
    const int n = order(t);
    fftw_complex *result = work_of(t).result;
    struct state *state = t->state;
    state->plan =
        t->rank == 0 ? fftw_plan_dft_2d(n, n, result, result, FFTW_FORWARD, PLANNING) : NULL;
}

static void forget_plan(const struct task *t)
{
    const struct state *state = t->state;
    fftw_destroy_plan(state->plan);
}

/* Packs for each rank the elements of its columns in this rank's rows, column by column. */
static void pack(const struct task *t, const struct work *w)
{
    const long n = order(t);
    const long rows = share_count(n, t->ranks, t->rank);
    number *next = w->packed;
    for (long column = 0; column < n; column++) {
        for (long row = 0; row < rows; row++) {
            *next++ = w->rows[row * n + column];
        }
    }
}

/* The columns of this rank are rows now: each consists of a piece from every rank. */
static void unpack(const struct task *t, const struct work *w)
{
    const long n = order(t);
    const long rows = share_count(n, t->ranks, t->rank);
    const number *next = w->arrived;
    for (int rank = 0; rank < t->ranks; rank++) {
        const long start = share_start(n, t->ranks, rank);
        const long length = share_count(n, t->ranks, rank);
        for (long row = 0; row < rows; row++, next += length) {
            memcpy(w->rows + row * n + start, next, (size_t)length * sizeof *next);
        }
    }
}

static void transpose(const struct task *t, const struct work *w, struct stopwatch *watch)
{
    pack(t, w);
    lap(watch, t, COMPUTE);
    exchange(t, w->packed, w->blocks, w->arrived, w->blocks);
    lap(watch, t, EXCHANGE);
    unpack(t, w);
    lap(watch, t, COMPUTE);
}

static void transform_in_parallel(const struct task *t)
{
    const struct work work = work_of(t);
    const long n = order(t);
    const size_t column_bytes = (size_t)share_count(n, t->ranks, t->rank) * sizeof(number);
    struct stopwatch watch = stopwatch_start();
    even_parts(work.shares, n, (size_t)n * sizeof(number), t->ranks);
    even_parts(work.blocks, n, column_bytes, t->ranks);
    deal(t, t->send, work.shares, work.rows);
    lap(&watch, t, DISTRIBUTE);

    for (int dimension = 0; dimension < 2; dimension++) {
        execute_plan(t);
        transpose(t, &work, &watch);
    }

    collect(t, work.rows, work.shares, work.result);
    lap(&watch, t, DISTRIBUTE);
}

static void transform_serially(const struct task *t)
{
    memcpy(work_of(t).result, t->send, (size_t)count_of(t));
    execute_plan(t);
}

static void write_input(number *matrix, long count, uint64_t key)
{
    for (long i = 0; i < count; i++) {
        const uint64_t place = 2 * (uint64_t)i;
        matrix[i] = CMPLX(drawn_fraction(key, place), drawn_fraction(key, place + 1));
    }
}

static void fill(const struct task *t, uint64_t key)
{
    if (t->rank == 0) {
        write_input((number *)(void *)t->send, (long)order(t) * order(t), key);
    }
}

/* Compares with FFTW's own transform in two dimensions. */
static struct verdict check_transform(const struct task *t, uint64_t key)
{
    struct verdict verdict = {0};
    if (t->rank > 0) {
        return verdict;
    }
    const int n = order(t);
    const long count = (long)n * n;
    const number *result = work_of(t).result;
    number *expected = fftw_alloc_complex((size_t)count);
    fftw_plan reference = fftw_plan_dft_2d(n, n, expected, expected, FFTW_FORWARD, PLANNING);
    write_input(expected, count, key);
    fftw_execute(reference);
    /* Every result is about as large as n; rounding errors are a few epsilons of that. */
    const double tolerance = 1000 * DBL_EPSILON * n;
    for (long i = 0; i < count; i++) {
        verdict.compared++;
        verdict.wrong += !(cabs(result[i] - expected[i]) <= tolerance);
    }
    fftw_destroy_plan(reference);
    fftw_free(expected);
    return verdict;
}

static bool suits_numbers(const struct task *t, struct refusal *refusal)
{
    return suits_matrix(t, sizeof(number), refusal);
}

static const struct result TRANSFORM = {
    .bytes = work_bytes, .fill = fill, .check = check_transform};

static const struct mode MODES[] = {
    {.name = "parallel",
     .summary = "rows, transposition, columns, transposition; time_us: from the matrix to its "
                "transform, both on rank 0",
     .source = "transposition by the all-to-all of study 003 (study 004: FFT)",
     .run = run_on_all,
     .variant = &(const struct solver){transform_in_parallel},
     .result = &TRANSFORM,
     .send_bytes = input_on_root,
     .suits = suits_numbers,
     .prepare = plan_rows,
     .release = forget_plan},
    {.name = "serial",
     .summary = "FFTW's transform in two dimensions, on rank 0 while the other ranks sleep",
     .source = "Frigo and Johnson 2005; the base case of the speed-up",
     .run = run_on_root,
     .variant = &(const struct solver){transform_serially},
     .at_root = true,
     .result = &TRANSFORM,
     .send_bytes = input_on_root,
     .suits = suits_numbers,
     .prepare = plan_matrix,
     .release = forget_plan},
    {.name = "one_rank",
     .summary = "the parallel form on rank 0 alone while the other ranks sleep",
     .source = "shows beside serial what the parallel form itself costs",
     .run = run_on_one_rank,
     .variant = &(const struct one_rank){transform_in_parallel, &TRANSFORM},
     .at_root = true,
     .result = &RESULT_ON_ONE_RANK,
     .send_bytes = input_on_root,
     .suits = suits_numbers,
     .prepare = plan_rows_on_one_rank,
     .release = forget_plan},
    {0},
};

int main(int argc, char **argv)
{
    struct state state = {0};
    const struct kernel fft = {
        .name = "fft",
        .summary = "transforms n x n complex numbers of 16 bytes; --sizes: bytes of the matrix",
        .modes = MODES,
        .sizes = "16K,64K,256K,1M",
        .state = &state,
    };
    return application_main(argc, argv, fft);
}
