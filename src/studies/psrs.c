/* Parallel sorting by regular sampling (Shi and Schaeffer 1992): each rank sorts its share, regular
 * samples give pivots, and an all-to-all brings each rank the keys between two pivots. */
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "collectives.h"
#include "keys.h"
#include "memory.h"
#include "space.h"

static long key_count(const struct task *t)
{
    return count_of(t) / (long)sizeof(key);
}

/* The pieces of the receive buffer. */
struct work {
    key *result; /* on rank 0: all keys in order */
    key *mine;   /* this rank's share of the input */
    key *samples;
    key *all_samples; /* on rank 0 */
    key *pivots;
    key *runs;             /* what arrives at this rank: one sorted run from each rank */
    key *merged;           /* the same in order */
    struct part *shares;   /* of the input */
    struct part *sampled;  /* of all samples */
    struct part *to;       /* of `mine`, once it is sorted */
    struct part *from;     /* of `runs` */
    struct part *lengths;  /* of an array with a length for each rank */
    struct part *finished; /* of the result */
    size_t *out_bytes;
    size_t *in_bytes;
    size_t bytes; /* of all pieces */
};

/* Fewer keys than these arrive at a rank: twice its share. With distinct keys it is fewer than 2n /
 * p (Li et al. 1993, theorem 1). Where p^2 does not divide n, the next multiple of p^2 takes the
 * place of n: no two neighbouring samples of a rank are further apart than that multiple over p^2.
 */
static size_t arriving_keys_limit(const struct task *t)
{
    const size_t ranks = (size_t)t->ranks;
    const size_t stride = ((size_t)key_count(t) + ranks * ranks - 1) / (ranks * ranks);
    return 2 * ranks * stride;
}

/* A rank has room for its share and for what may arrive; only rank 0 holds all keys. */
static struct work work_of(const struct task *t)
{
    struct space space = {.block = t->receive};
    const size_t ranks = (size_t)t->ranks;
    const size_t share = (size_t)share_count(key_count(t), t->ranks, t->rank) * sizeof(key);
    const size_t arriving = arriving_keys_limit(t) * sizeof(key);
    struct work work = {
        .result = cut(&space, t->rank == 0 ? (size_t)count_of(t) : 0),
        .mine = cut(&space, share),
        .samples = cut(&space, ranks * sizeof(key)),
        .all_samples = cut(&space, ranks * ranks * sizeof(key)),
        .pivots = cut(&space, ranks * sizeof(key)),
        .runs = cut(&space, arriving),
        .merged = cut(&space, arriving),
        .shares = cut(&space, ranks * sizeof(struct part)),
        .sampled = cut(&space, ranks * sizeof(struct part)),
        .to = cut(&space, ranks * sizeof(struct part)),
        .from = cut(&space, ranks * sizeof(struct part)),
        .lengths = cut(&space, ranks * sizeof(struct part)),
        .finished = cut(&space, ranks * sizeof(struct part)),
        .out_bytes = cut(&space, ranks * sizeof(size_t)),
        .in_bytes = cut(&space, ranks * sizeof(size_t)),
    };
    work.bytes = space.used;
    return work;
}

static size_t work_bytes(const struct task *t)
{
    return work_of(t).bytes;
}

/* Takes as many samples as there are ranks, at equal distances in a sorted share. */
static void take_samples(const struct task *t, const struct work *w)
{
    const long count = share_count(key_count(t), t->ranks, t->rank);
    for (int i = 0; i < t->ranks; i++) {
        w->samples[i] = w->mine[i * count / t->ranks];
    }
}

/* The pivots are sorted samples, half a stride before each multiple of the stride. */
static void choose_pivots(const struct task *t, const struct work *w)
{
    const long ranks = t->ranks;
    sort_keys(w->all_samples, ranks * ranks);
    for (long i = 1; i < ranks; i++) {
        w->pivots[i - 1] = w->all_samples[i * ranks + ranks / 2 - 1];
    }
}

/* Decides which part of this rank's sorted share each rank gets. */
static void divide_by_pivots(const struct task *t, const struct work *w)
{
    const size_t count = w->shares[t->rank].bytes / sizeof(key);
    size_t start = 0;
    for (int rank = 0; rank < t->ranks; rank++) {
        const size_t end =
            rank + 1 < t->ranks ? first_above(w->mine, count, w->pivots[rank]) : count;
        if (end < start) {
            arrived_wrong(t, "a pivot");
        }
        w->to[rank] = (struct part){start * sizeof(key), (end - start) * sizeof(key)};
        w->out_bytes[rank] = w->to[rank].bytes;
        start = end;
    }
}

/* Exchanges the lengths, then the keys. Returns the bytes that arrived. Lengths that the keys
 * cannot have are an MPI's mistake, and no message may overwrite what lies beyond the buffer. */
static size_t exchange_runs(const struct task *t, const struct work *w)
{
    const size_t room = arriving_keys_limit(t) * sizeof(key);
    size_t end = 0;
    exchange(t, w->out_bytes, w->lengths, w->in_bytes, w->lengths);
    for (int rank = 0; rank < t->ranks; rank++) {
        w->from[rank] = (struct part){end, w->in_bytes[rank]};
        end += w->in_bytes[rank];
        if (w->in_bytes[rank] > room || end > room) {
            arrived_wrong(t, "the number of keys from another rank");
        }
    }
    exchange(t, w->mine, w->to, w->runs, w->from);
    return end;
}

/* Merges neighbouring runs two by two until one is left. Returns where it is. */
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
            merge_keys(runs + start, middle - start, runs + middle, end - middle, merged + start);
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

    sort_keys(work.mine, share_count(key_count(t), t->ranks, t->rank));
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

    announce(t, bytes, work.finished, (size_t)count_of(t));
    collect(t, sorted, work.finished, work.result);
    lap(&watch, t, DISTRIBUTE);
}

static void sort_serially(const struct task *t)
{
    key *result = work_of(t).result;
    memcpy(result, t->send, (size_t)count_of(t));
    sort_keys(result, key_count(t));
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
    sort_keys(expected, key_count(t));
    for (long i = 0; i < key_count(t); i++) {
        verdict.compared++;
        verdict.wrong += result[i] != expected[i];
    }
    free(expected);
    return verdict;
}

/* Every rank merges less than twice its share. */
static struct verdict check_order_and_balance(const struct task *t, uint64_t seed)
{
    const struct work work = work_of(t);
    const struct part last = work.from[t->ranks - 1];
    const size_t keys = (last.offset + last.bytes) / sizeof(key);

    struct verdict verdict = check_order(t, seed);
    verdict.compared++;
    verdict.wrong += keys >= arriving_keys_limit(t);
    return verdict;
}

static bool suits_keys(const struct task *t, struct refusal *refusal)
{
    return (count_of(t) > 0 && count_of(t) % (int)sizeof(key) == 0) ||
           refuse(refusal, "--sizes: %d bytes are not one or more keys of %zu bytes; use %zu, %zu",
                  count_of(t), sizeof(key), ((size_t)count_of(t) / sizeof(key) + 1) * sizeof(key),
                  ((size_t)count_of(t) / sizeof(key) + 2) * sizeof(key));
}

static bool suits_samples(const struct task *t, struct refusal *refusal)
{
    const long least = (long)t->ranks * t->ranks;
    return suits_keys(t, refusal) &&
           (key_count(t) >= least ||
            refuse(refusal,
                   "--sizes: %d ranks need %ld keys for their samples, so %ld bytes or more, not "
                   "%d; use larger sizes, fewer ranks, or --mode serial",
                   t->ranks, least, least * (long)sizeof(key), count_of(t)));
}

static const struct result SORTED = {.bytes = work_bytes, .fill = fill, .check = check_order};
static const struct result SORTED_EVENLY = {
    .bytes = work_bytes, .fill = fill, .check = check_order_and_balance};

static const struct mode MODES[] = {
    {.name = "parallel",
     .summary = "regular sampling; time_us: from keys to sorted keys, both on rank 0",
     .source = "Shi and Schaeffer 1992; Li et al. 1993 (study 004: PSRS)",
     .run = run_on_all,
     .variant = &(const struct solver){sort_in_parallel},
     .result = &SORTED_EVENLY,
     .send_bytes = input_on_root,
     .suits = suits_samples},
    {.name = "serial",
     .summary = "qsort on rank 0 while the other ranks sleep",
     .source = "the base case of the speed-up",
     .run = run_on_root,
     .variant = &(const struct solver){sort_serially},
     .at_root = true,
     .result = &SORTED,
     .send_bytes = input_on_root,
     .suits = suits_keys},
    {.name = "one_rank",
     .summary = "the parallel form on rank 0 alone while the other ranks sleep",
     .source = "shows beside serial what the parallel form itself costs",
     .run = run_on_one_rank,
     .variant = &(const struct one_rank){sort_in_parallel, &SORTED_EVENLY},
     .at_root = true,
     .result = &RESULT_ON_ONE_RANK,
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
