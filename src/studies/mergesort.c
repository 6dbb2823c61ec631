/* Merge sort over a tree of processes: the nodes on which they run decide what the network carries.
 * The data start and end at rank 0; inner ranks halve and merge, leaves sort (Brown 2001). */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "order.h"
#include "process_tree.h"
#include "random.h"

enum { TAG = 1, COMPUTE = 0, SEND, RECEIVE, WAIT };

/* The settings are the tree. The state is this rank's node at the point that is being measured. */

static struct node node_of(const struct task *t)
{
    return process_tree_node(t->settings, t->rank, t->ranks, count_of(t) / (int)sizeof(int32_t));
}

static void find_node(const struct task *t)
{
    *(struct node *)t->state = node_of(t);
}

static const int32_t *input(const struct task *t)
{
    return (const int32_t *)(const void *)t->send;
}

/* Where this rank's sorted numbers are. */
static int32_t *sorted(const struct task *t)
{
    return (int32_t *)(void *)t->receive;
}

/* Room for as many numbers again, to merge from. */
static int32_t *workspace(const struct task *t)
{
    return sorted(t) + ((const struct node *)t->state)->count;
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

/* Merges runs of one number, then of two, then of four, from one place into the other. */
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
    const struct node *node = t->state;
    const double start_us = phase_begin(t);
    if (unsorted != sorted(t)) {
        memcpy(sorted(t), unsorted, (size_t)node->count * sizeof *unsorted);
    }
    sort(sorted(t), workspace(t), node->count);
    phase_end(t, COMPUTE, start_us);
}

static void send_part(const struct task *t, int to, const int32_t *part, int count)
{
    const double start_us = phase_begin(t);
    MPI_CHECK(MPI_Send(part, count, MPI_INT32_T, to, TAG, t->comm));
    count_sent(t, (size_t)count * sizeof *part, to);
    phase_end(t, SEND, start_us);
}

/* Waiting ends when the message can be received: a short message has arrived then, a long one has
 * been announced. */
static void receive_part(const struct task *t, int from, int32_t *part, int count)
{
    const double start_us = phase_begin(t);
    MPI_CHECK(MPI_Probe(from, TAG, t->comm, MPI_STATUS_IGNORE));
    const double there_us = phase_end(t, WAIT, start_us);
    MPI_CHECK(MPI_Recv(part, count, MPI_INT32_T, from, TAG, t->comm, MPI_STATUS_IGNORE));
    phase_end(t, RECEIVE, there_us);
}

/* Halves go down, come back sorted, and are merged. */
static void sort_below(const struct task *t, const int32_t *unsorted)
{
    const struct node *node = t->state;
    int32_t *halves[] = {workspace(t), workspace(t) + node->parts[0]};
    send_part(t, node->children[0], unsorted, node->parts[0]);
    send_part(t, node->children[1], unsorted + node->parts[0], node->parts[1]);
    for (int k = 0; k < 2; k++) {
        receive_part(t, node->children[k], halves[k], node->parts[k]);
    }
    const double start_us = phase_begin(t);
    merge(sorted(t), halves[0], node->parts[0], halves[1], node->parts[1]);
    phase_end(t, COMPUTE, start_us);
}

static void run_tree(const struct task *t, long iterations)
{
    const struct node *node = t->state;
    const int32_t *unsorted = t->rank == 0 ? input(t) : sorted(t);
    for (long i = 0; i < iterations; i++) {
        if (t->rank > 0) {
            receive_part(t, node->parent, sorted(t), node->count);
        }
        if (node->children[0] == 0) {
            sort_alone(t, unsorted);
        } else {
            sort_below(t, unsorted);
        }
        if (t->rank > 0) {
            send_part(t, node->parent, sorted(t), node->count);
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
    const struct process_tree *tree = t->settings;
    if (tree->parents != NULL && t->ranks != tree->count + 1) {
        return refuse(refusal, "--tree: has %d ranks, but %d were started; use mpirun -n %d",
                      tree->count + 1, t->ranks, tree->count + 1);
    }
    return count_of(t) % (int)sizeof(int32_t) == 0 ||
           refuse(refusal, "--sizes: %d bytes are not a whole number of 4-byte ints; use %d",
                  count_of(t), count_of(t) > 4 ? count_of(t) / 4 * 4 : 4);
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
    return t->rank == 0 ? (size_t)count_of(t) : 0;
}

static size_t tree_bytes(const struct task *t)
{
    return 2 * (size_t)node_of(t).count * sizeof(int32_t);
}

static size_t serial_bytes(const struct task *t)
{
    return 2 * input_bytes(t);
}

static void fill_with_random_numbers(const struct task *t, uint64_t key)
{
    int32_t *numbers = (int32_t *)(void *)t->send;
    const int count = count_of(t) / (int)sizeof *numbers;
    for (int i = 0; t->rank == 0 && i < count; i++) {
        numbers[i] = (int32_t)(random_next(&key) >> 32);
    }
}

/* Compares with what the C library makes of the same numbers. */
static struct verdict check_order(const struct task *t, uint64_t key)
{
    (void)key;
    struct verdict verdict = {0};
    if (t->rank == 0) {
        const int count = ((const struct node *)t->state)->count;
        int32_t *expected = workspace(t);
        memcpy(expected, input(t), (size_t)count * sizeof *expected);
        sort_ints(expected, (size_t)count);
        for (int i = 0; i < count; i++) {
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
     .prepare = find_node},
    {.name = "serial",
     .summary = "rank 0 sorts alone, no messages; time_us: one sort. The other ranks spin: where\n"
                "                    ranks outnumber cores, compare with a run of one rank",
     .source = "Brown 2001, the single process",
     .run = run_serial,
     .result = &ORDER_OF_ONE,
     .send_bytes = input_bytes,
     .suits = suits_any,
     .prepare = find_node},
    {0},
};

static const char *const PHASES[] = {[COMPUTE] = "compute_us",
                                     [SEND] = "send_us",
                                     [RECEIVE] = "receive_us",
                                     [WAIT] = "wait_us",
                                     NULL};

static bool accept_tree(void *settings, const char *value, struct refusal *refusal)
{
    return process_tree_parse(settings, value, refusal);
}

static const struct kernel_option OPTIONS[] = {
    {.name = "--tree",
     .value_name = "P,P,...",
     .help = "parents of the ranks from 1 on (rank r has (r - 1) / 2)",
     .accept = accept_tree},
    {0},
};

int main(int argc, char **argv)
{
    struct process_tree tree = {0};
    struct node node = {0};
    const struct kernel mergesort = {
        .name = "mergesort",
        .summary = "merge sort of 4-byte ints over a full binary tree of ranks; a size is that of "
                   "the\narray at rank 0, where it starts and ends",
        .ranks_min = 1,
        .sizes = "200000,800000,3200000",
        .timing = TIME_AT_ROOT,
        .pattern = &PATTERN_PROBLEM,
        .modes = MODES,
        .phases = PHASES,
        .timeline = true,
        .options = OPTIONS,
        .settings = &tree,
        .state = &node,
    };
    const int exit_code = engine_main(argc, argv, &mergesort);
    free(tree.parents);
    return exit_code;
}
