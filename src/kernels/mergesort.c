/* Merge sort over a tree of processes: which node each runs on decides what the network carries.
 * The data start and end at rank 0; inner ranks halve and merge, leaves sort (Brown 2001). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "memory.h"
#include "random.h"

enum { TAG = 1, COMPUTE = 0, SEND, RECEIVE, WAIT };

struct settings {
    int *parents; /* of the ranks from 1 on; NULL: a heap */
    int count;
};

/* A rank's place in the tree, and the numbers that it and its children sort. */
struct node {
    int parent;
    int children[2]; /* both 0 at a leaf */
    int count;
    int parts[2];
};

static int parent_of(const struct task *t, int rank)
{
    const struct settings *settings = t->settings;
    return settings->parents != NULL ? settings->parents[rank - 1] : (rank - 1) / 2;
}

/* The lower rank first; both 0 at a leaf. */
static void find_children(const struct task *t, int rank, int children[2])
{
    children[0] = children[1] = 0;
    for (int child = rank + 1, found = 0; child < t->ranks && found < 2; child++) {
        if (parent_of(t, child) == rank) {
            children[found++] = child;
        }
    }
}

/* Of the numbers that the root has, those that come to a rank: one half at each step down. */
static int count_at(const struct task *t, int rank)
{
    int count = t->size_bytes / (int)sizeof(int32_t);
    int above = 0;
    while (above != rank) {
        int next = rank;
        while (parent_of(t, next) != above) {
            next = parent_of(t, next);
        }
        int children[2];
        find_children(t, above, children);
        count = next == children[0] ? count / 2 : count - count / 2;
        above = next;
    }
    return count;
}

static struct node node_of(const struct task *t, int rank)
{
    struct node node = {.count = count_at(t, rank)};
    node.parent = rank > 0 ? parent_of(t, rank) : 0;
    find_children(t, rank, node.children);
    node.parts[0] = node.count / 2;
    node.parts[1] = node.count - node.parts[0];
    return node;
}

/* This rank's, at the point that is being measured. */
static struct node self;

static void find_place(const struct task *t)
{
    self = node_of(t, t->rank);
}

static const int32_t *input(const struct task *t)
{
    return (const int32_t *)(const void *)t->send;
}

/* Where this rank's numbers end up in order. */
static int32_t *sorted(const struct task *t)
{
    return (int32_t *)(void *)t->receive;
}

/* As much again, to merge from. */
static int32_t *workspace(const struct task *t)
{
    return sorted(t) + self.count;
}

static void merge(int32_t *to, const int32_t *left, int left_count, const int32_t *right,
                  int right_count)
{
    const int32_t *left_end = left + left_count;
    const int32_t *right_end = right + right_count;
    while (left < left_end && right < right_end) {
        *to++ = *right < *left ? *right++ : *left++;
    }
    memcpy(to, left, (size_t)(left_end - left) * sizeof *to);
    memcpy(to + (left_end - left), right, (size_t)(right_end - right) * sizeof *to);
}

static int lesser(int a, int b)
{
    return a < b ? a : b;
}

/* Runs of one number, then of two, then of four, are merged from one place into the other. */
static void sort(int32_t *numbers, int32_t *space, int count)
{
    int32_t *from = numbers;
    int32_t *to = space;
    for (int run = 1; run < count; run *= 2) {
        for (int left = 0; left < count; left += 2 * run) {
            const int right = lesser(left + run, count);
            const int end = lesser(right + run, count);
            merge(to + left, from + left, right - left, from + right, end - right);
        }
        int32_t *merged = to;
        to = from;
        from = merged;
    }
    if (from != numbers) {
        memcpy(numbers, from, (size_t)count * sizeof *numbers);
    }
}

static void sort_alone(const struct task *t, const int32_t *unsorted)
{
    const double start = MPI_Wtime();
    if (unsorted != sorted(t)) {
        memcpy(sorted(t), unsorted, (size_t)self.count * sizeof *unsorted);
    }
    sort(sorted(t), workspace(t), self.count);
    phase_end(t, COMPUTE, start);
}

static void send_part(const struct task *t, int to, const int32_t *part, int count)
{
    const double start = MPI_Wtime();
    MPI_CHECK(MPI_Send(part, count, MPI_INT32_T, to, TAG, t->comm));
    t->sent[to].messages++;
    t->sent[to].bytes += (int64_t)count * (int64_t)sizeof *part;
    phase_end(t, SEND, start);
}

/* Waiting ends when the message can be received: a short one is then there, of a long one its
 * announcement. */
static void receive_part(const struct task *t, int from, int32_t *part, int count)
{
    const double start = MPI_Wtime();
    MPI_CHECK(MPI_Probe(from, TAG, t->comm, MPI_STATUS_IGNORE));
    phase_end(t, WAIT, start);
    const double there = MPI_Wtime();
    MPI_CHECK(MPI_Recv(part, count, MPI_INT32_T, from, TAG, t->comm, MPI_STATUS_IGNORE));
    phase_end(t, RECEIVE, there);
}

/* Halves go down, come back in order, and are merged. */
static void sort_below(const struct task *t, const int32_t *unsorted)
{
    int32_t *halves[] = {workspace(t), workspace(t) + self.parts[0]};
    send_part(t, self.children[0], unsorted, self.parts[0]);
    send_part(t, self.children[1], unsorted + self.parts[0], self.parts[1]);
    for (int k = 0; k < 2; k++) {
        receive_part(t, self.children[k], halves[k], self.parts[k]);
    }
    const double start = MPI_Wtime();
    merge(sorted(t), halves[0], self.parts[0], halves[1], self.parts[1]);
    phase_end(t, COMPUTE, start);
}

static void run_tree(const struct task *t, long iterations)
{
    const int32_t *unsorted = t->rank == 0 ? input(t) : sorted(t);
    for (long i = 0; i < iterations; i++) {
        if (t->rank > 0) {
            receive_part(t, self.parent, sorted(t), self.count);
        }
        if (self.children[0] == 0) {
            sort_alone(t, unsorted);
        } else {
            sort_below(t, unsorted);
        }
        if (t->rank > 0) {
            send_part(t, self.parent, sorted(t), self.count);
        }
    }
}

static void run_serial(const struct task *t, long iterations)
{
    for (long i = 0; i < iterations && t->rank == 0; i++) {
        sort_alone(t, input(t));
    }
}

static bool suits_any(const struct task *t, struct refusal *refusal)
{
    const struct settings *settings = t->settings;
    if (settings->parents != NULL && t->ranks != settings->count + 1) {
        return refuse(refusal, "--tree: has %d ranks, but %d were started; use mpirun -n %d",
                      settings->count + 1, t->ranks, settings->count + 1);
    }
    return t->size_bytes % (int)sizeof(int32_t) == 0 ||
           refuse(refusal, "--sizes: %d bytes are no whole number of 4-byte ints; use %d",
                  t->size_bytes, t->size_bytes > 4 ? t->size_bytes / 4 * 4 : 4);
}

static bool suits_tree(const struct task *t, struct refusal *refusal)
{
    return suits_any(t, refusal) &&
           (t->ranks % 2 == 1 ||
            refuse(refusal,
                   "started with %d ranks, but a full binary tree has an odd number; use "
                   "mpirun -n %d, or --mode serial",
                   t->ranks, t->ranks + 1));
}

static size_t input_bytes(const struct task *t)
{
    return t->rank == 0 ? (size_t)t->size_bytes : 0;
}

static size_t tree_bytes(const struct task *t)
{
    return 2 * (size_t)node_of(t, t->rank).count * sizeof(int32_t);
}

static size_t serial_bytes(const struct task *t)
{
    return 2 * input_bytes(t);
}

static void fill_with_random_numbers(const struct task *t, uint64_t key)
{
    int32_t *numbers = (int32_t *)(void *)t->send;
    const int count = t->size_bytes / (int)sizeof *numbers;
    for (int i = 0; t->rank == 0 && i < count; i++) {
        numbers[i] = (int32_t)(random_next(&key) >> 32);
    }
}

static int ascending(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left;
    const int32_t b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* Against the C library's order of the same numbers. */
static struct verdict check_order(const struct task *t, uint64_t key)
{
    (void)key;
    struct verdict verdict = {0};
    if (t->rank == 0) {
        int32_t *expected = workspace(t);
        memcpy(expected, input(t), (size_t)self.count * sizeof *expected);
        qsort(expected, (size_t)self.count, sizeof *expected, ascending);
        for (int i = 0; i < self.count; i++) {
            verdict.compared++;
            verdict.wrong += sorted(t)[i] != expected[i];
        }
    }
    return verdict;
}

static const struct result ORDER_OF_TREE = {
    .bytes = tree_bytes, .fill = fill_with_random_numbers, .check = check_order};
static const struct result ORDER_OF_ONE = {
    .bytes = serial_bytes, .fill = fill_with_random_numbers, .check = check_order};

static const struct mode MODES[] = {
    {.name = "tree",
     .summary = "inner ranks halve and merge, leaves sort; time_us: one sort, at rank 0",
     .source = "Brown 2001, figures 10 to 13",
     .run = run_tree,
     .result = &ORDER_OF_TREE,
     .send_bytes = input_bytes,
     .suits = suits_tree,
     .prepare = find_place},
    {.name = "serial",
     .summary =
         "rank 0 sorts alone, no messages; time_us: one sort. Other ranks wait busily: where "
         "they\n                    outnumber the cores, compare with a run of one rank",
     .source = "Brown 2001, the single process",
     .run = run_serial,
     .result = &ORDER_OF_ONE,
     .send_bytes = input_bytes,
     .suits = suits_any,
     .prepare = find_place},
    {0},
};

static const char *const PHASES[] = {[COMPUTE] = "compute_us",
                                     [SEND] = "send_us",
                                     [RECEIVE] = "receive_us",
                                     [WAIT] = "wait_us",
                                     NULL};

/* A number from `*text`, which then stands behind it; -1 when there is none. */
static long next_number(const char **text)
{
    char *end = NULL;
    const long number = isdigit((unsigned char)**text) ? strtol(*text, &end, 10) : -1;
    *text = end != NULL ? end : *text;
    return number;
}

/* Each parent has a lower rank than its children, and two of them. */
static bool accept_tree(void *settings, const char *value, struct refusal *refusal)
{
    struct settings *mine = settings;
    mine->count = 0;
    for (const char *at = value;; at++) {
        const long parent = next_number(&at);
        if (parent < 0 || parent > mine->count || (*at != ',' && *at != '\0')) {
            return refuse(refusal,
                          "--tree: '%s' needs for each rank from 1 on a lower rank as its parent, "
                          "separated by commas, such as 0,0,1,1,2,2",
                          value);
        }
        mine->parents =
            reallocate(mine->parents, (size_t)(mine->count + 1) * sizeof *mine->parents);
        mine->parents[mine->count++] = (int)parent;
        if (*at == '\0') {
            break;
        }
    }
    for (int rank = 0; rank < mine->count; rank++) {
        int children = 0;
        for (int i = 0; i < mine->count; i++) {
            children += mine->parents[i] == rank;
        }
        if (children != 0 && children != 2) {
            return refuse(refusal,
                          "--tree: '%s' is no full binary tree: rank %d has %d child%s; give each "
                          "parent two, such as 0,0,1,1,2,2",
                          value, rank, children, children == 1 ? "" : "ren");
        }
    }
    return true;
}

static const struct kernel_option OPTIONS[] = {
    {"--tree", "P,P,...", "parents of the ranks from 1 on (rank r has (r - 1) / 2)", accept_tree},
    {0},
};

int main(int argc, char **argv)
{
    struct settings settings = {0};
    const struct kernel mergesort = {
        .name = "mergesort",
        .summary = "merge sort of 4-byte ints over a full binary tree of ranks; sizes are bytes of "
                   "the\narray at rank 0, where it starts and ends",
        .ranks_min = 1,
        .sizes = "200000,800000,3200000",
        .timing = TIME_AT_ROOT,
        .modes = MODES,
        .phases = PHASES,
        .timeline = true,
        .options = OPTIONS,
        .settings = &settings,
    };
    const int exit_code = engine_main(argc, argv, &mergesort);
    free(settings.parents);
    return exit_code;
}
