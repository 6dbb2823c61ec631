/* Parallel sorting by regular sampling (Shi and Schaeffer 1992): each rank sorts its share, regular
 * samples give pivots, a complete exchange brings each rank what lies between two of them. */
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "memory.h"
#include "patterns.h"
#include "space.h"

typedef uint32_t key;

static long key_count(const struct task *t)
{
    return t->size_bytes / (long)sizeof(key);
}

/* The receive buffer, piece by piece. */
struct work {
    key *result; /* on rank 0: all keys in order */
    key *mine;   /* this rank's share of the input */
    key *samples;
    key *all_samples; /* on rank 0 */
    key *pivots;
    key *runs;             /* what comes to this rank: one sorted run from each */
    key *merged;           /* the same in order */
    struct part *shares;   /* of the input */
    struct part *sampled;  /* of all samples */
    struct part *to;       /* of `mine`, once it is sorted */
    struct part *from;     /* of `runs` */
    struct part *lengths;  /* of an array with a length for each rank */
    struct part *finished; /* of the result */
    size_t *out_bytes;
    size_t *in_bytes;
};

static struct work lay_out(const struct task *t, struct space *space)
{
    const size_t bytes = (size_t)t->size_bytes;
    const size_t ranks = (size_t)t->ranks;
    return (struct work){
        .result = cut(space, t->rank == 0 ? bytes : 0),
        .mine = cut(space, bytes),
        .samples = cut(space, ranks * sizeof(key)),
        .all_samples = cut(space, ranks * ranks * sizeof(key)),
        .pivots = cut(space, ranks * sizeof(key)),
        .runs = cut(space, bytes),
        .merged = cut(space, bytes),
        .shares = cut(space, ranks * sizeof(struct part)),
        .sampled = cut(space, ranks * sizeof(struct part)),
        .to = cut(space, ranks * sizeof(struct part)),
        .from = cut(space, ranks * sizeof(struct part)),
        .lengths = cut(space, ranks * sizeof(struct part)),
        .finished = cut(space, ranks * sizeof(struct part)),
        .out_bytes = cut(space, ranks * sizeof(size_t)),
        .in_bytes = cut(space, ranks * sizeof(size_t)),
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

static int ascending(const void *a, const void *b)
{
    const key x = *(const key *)a;
    const key y = *(const key *)b;
    return (x > y) - (x < y);
}

static void sort(key *keys, long count)
{
    qsort(keys, (size_t)count, sizeof *keys, ascending);
}

/* As many as there are ranks, at equal distances in a sorted share. */
static void take_samples(const struct task *t, const struct work *w)
{
    const long count = share_count(key_count(t), t->ranks, t->rank);
    for (int i = 0; i < t->ranks; i++) {
        w->samples[i] = w->mine[i * count / t->ranks];
    }
}

/* All samples in order give the pivots, half a stride before each multiple of the stride. */
static void choose_pivots(const struct task *t, const struct work *w)
{
    const long ranks = t->ranks;
    sort(w->all_samples, ranks * ranks);
    for (long i = 1; i < ranks; i++) {
        w->pivots[i - 1] = w->all_samples[i * ranks + ranks / 2 - 1];
    }
}

/* The first of some sorted keys that is larger than a pivot. */
static size_t first_above(const key *keys, size_t count, key pivot)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (keys[middle] > pivot) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* What of this rank's sorted share each rank is to have. */
static void divide_by_pivots(const struct task *t, const struct work *w)
{
    const size_t count = w->shares[t->rank].bytes / sizeof(key);
    size_t start = 0;
    for (int rank = 0; rank < t->ranks; rank++) {
        const size_t end =
            rank + 1 < t->ranks ? first_above(w->mine, count, w->pivots[rank]) : count;
        w->to[rank] = (struct part){start * sizeof(key), (end - start) * sizeof(key)};
        w->out_bytes[rank] = w->to[rank].bytes;
        start = end;
    }
}

/* The complete exchange: first of lengths, then of keys. Returns the bytes that came. */
static size_t exchange_runs(const struct task *t, const struct work *w)
{
    size_t end = 0;
    exchange(t, w->out_bytes, w->lengths, w->in_bytes, w->lengths);
    for (int rank = 0; rank < t->ranks; rank++) {
        w->from[rank] = (struct part){end, w->in_bytes[rank]};
        end += w->in_bytes[rank];
    }
    exchange(t, w->mine, w->to, w->runs, w->from);
    return end;
}

static void merge(const key *a, size_t a_count, const key *b, size_t b_count, key *merged)
{
    while (a_count > 0 && b_count > 0) {
        if (*a <= *b) {
            *merged++ = *a++;
            a_count--;
        } else {
            *merged++ = *b++;
            b_count--;
        }
    }
    memcpy(merged, a, a_count * sizeof *a);
    memcpy(merged + a_count, b, b_count * sizeof *b);
}

/* Neighbouring runs two by two, until one is left. Returns where it is. */
static const key *merge_runs(const struct task *t, const struct work *w)
{
    key *runs = w->runs;
    key *merged = w->merged;
    size_t *ends = w->in_bytes; /* from lengths in bytes to ends in keys */
    for (int run = 0; run < t->ranks; run++) {
        ends[run] = (w->from[run].offset + w->from[run].bytes) / sizeof(key);
    }
    for (int left = t->ranks; left > 1; left = (left + 1) / 2) {
        size_t start = 0;
        for (int run = 0; run < left; run += 2) {
            const size_t middle = ends[run];
            const size_t end = run + 1 < left ? ends[run + 1] : middle;
            merge(runs + start, middle - start, runs + middle, end - middle, merged + start);
            ends[run / 2] = end;
            start = end;
        }
        key *const swapped = runs;
        runs = merged;
        merged = swapped;
    }
    return runs;
}

static void sort_in_parallel(const struct task *t)
{
    const struct work work = work_of(t);
    struct stopwatch watch = stopwatch_start();
    even_parts(work.shares, key_count(t), sizeof(key), t->ranks);
    even_parts(work.sampled, (long)t->ranks * t->ranks, sizeof(key), t->ranks);
    even_parts(work.lengths, t->ranks, sizeof(size_t), t->ranks);
    deal(t, t->send, work.shares, work.mine);
    lap(&watch, t, DISTRIBUTE);

    sort(work.mine, share_count(key_count(t), t->ranks, t->rank));
    take_samples(t, &work);
    lap(&watch, t, COMPUTE);
    collect(t, work.samples, work.sampled, work.all_samples);
    lap(&watch, t, EXCHANGE);
    if (t->rank == 0) {
        choose_pivots(t, &work);
    }
    lap(&watch, t, COMPUTE);
    broadcast(t, work.pivots, (size_t)(t->ranks - 1) * sizeof(key), 0);
    lap(&watch, t, EXCHANGE);
    divide_by_pivots(t, &work);
    lap(&watch, t, COMPUTE);
    const size_t bytes = exchange_runs(t, &work);
    lap(&watch, t, EXCHANGE);
    const key *sorted = merge_runs(t, &work);
    lap(&watch, t, COMPUTE);

    announce(t, bytes, work.finished);
    collect(t, sorted, work.finished, work.result);
    lap(&watch, t, DISTRIBUTE);
}

static void run_parallel(const struct task *t, long iterations)
{
    run_on_all(t, iterations, sort_in_parallel);
}

static void sort_serially(const struct task *t)
{
    key *result = work_of(t).result;
    memcpy(result, t->send, (size_t)t->size_bytes);
    sort(result, key_count(t));
}

static void run_serial(const struct task *t, long iterations)
{
    run_on_root(t, iterations, sort_serially);
}

/* A permutation of all 32-bit numbers (the finalizer of MurmurHash3), so that no key comes twice.
 */
static key distinct_key(uint64_t seed, long place)
{
    key k = (key)(seed ^ seed >> 32) + (key)place;
    k = (k ^ k >> 16) * 0x85EBCA6BU;
    k = (k ^ k >> 13) * 0xC2B2AE35U;
    return k ^ k >> 16;
}

static void fill(const struct task *t, uint64_t seed)
{
    key *keys = (key *)(void *)t->send;
    for (long i = 0; t->rank == 0 && i < key_count(t); i++) {
        keys[i] = distinct_key(seed, i);
    }
}

static struct verdict check_order(const struct task *t, uint64_t seed)
{
    struct verdict verdict = {0};
    if (t->rank > 0) {
        return verdict;
    }
    const key *result = work_of(t).result;
    key *expected = allocate((size_t)key_count(t), sizeof *expected);
    for (long i = 0; i < key_count(t); i++) {
        expected[i] = distinct_key(seed, i);
    }
    sort(expected, key_count(t));
    for (long i = 0; i < key_count(t); i++) {
        verdict.compared++;
        verdict.wrong += result[i] != expected[i];
    }
    free(expected);
    return verdict;
}

/* No rank has twice its share to merge or more: with distinct keys, fewer than 2n / p (Li et al.
 * 1993, theorem 1); where p^2 does not divide n, its least multiple above stands for it. */
static struct verdict check_order_and_balance(const struct task *t, uint64_t seed)
{
    const size_t ranks = (size_t)t->ranks;
    const size_t stride = ((size_t)key_count(t) + ranks * ranks - 1) / (ranks * ranks);
    const struct work work = work_of(t);
    const struct part last = work.from[ranks - 1];
    const size_t keys = (last.offset + last.bytes) / sizeof(key);

    struct verdict verdict = check_order(t, seed);
    verdict.compared++;
    verdict.wrong += keys >= 2 * ranks * stride;
    return verdict;
}

static bool suits_keys(const struct task *t, struct refusal *refusal)
{
    return (t->size_bytes > 0 && t->size_bytes % (int)sizeof(key) == 0) ||
           refuse(refusal, "--sizes: %d bytes are not one or more keys of %zu bytes; use %zu, %zu",
                  t->size_bytes, sizeof(key),
                  ((size_t)t->size_bytes / sizeof(key) + 1) * sizeof(key),
                  ((size_t)t->size_bytes / sizeof(key) + 2) * sizeof(key));
}

static bool suits_samples(const struct task *t, struct refusal *refusal)
{
    const long least = (long)t->ranks * t->ranks;
    return suits_keys(t, refusal) &&
           (key_count(t) >= least ||
            refuse(refusal,
                   "--sizes: %d ranks need %ld keys for their samples, so %ld bytes or more, not "
                   "%d; use those, fewer ranks, or --mode serial",
                   t->ranks, least, least * (long)sizeof(key), t->size_bytes));
}

static const struct result SORTED = {.bytes = work_bytes, .fill = fill, .check = check_order};
static const struct result SORTED_EVENLY = {
    .bytes = work_bytes, .fill = fill, .check = check_order_and_balance};

static const struct mode MODES[] = {
    {.name = "parallel",
     .summary = "regular sampling; time_us: from keys to sorted keys, both on rank 0",
     .source = "Shi and Schaeffer 1992; Li et al. 1993 (study 004: PSRS)",
     .run = run_parallel,
     .result = &SORTED_EVENLY,
     .send_bytes = input_on_root,
     .suits = suits_samples},
    {.name = "serial",
     .summary = "qsort on rank 0 while the others sleep",
     .source = "the base case of the speed-up",
     .run = run_serial,
     .at_root = true,
     .result = &SORTED,
     .send_bytes = input_on_root,
     .suits = suits_keys},
    {0},
};

int main(int argc, char **argv)
{
    const struct kernel psrs = {
        .name = "psrs",
        .summary = "sorts distinct keys of 4 bytes; --sizes: bytes of all keys",
        .modes = MODES,
        .sizes = "16K:1M",
    };
    return application_main(argc, argv, psrs);
}
