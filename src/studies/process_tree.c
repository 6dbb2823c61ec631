/* The tree of processes of the merge sort: each rank's place in it, and the numbers that it sorts.
 */
#include "process_tree.h"

#include <ctype.h>
#include <stdlib.h>

#include "memory.h"
#include "tree.h"

static int parent_of(const struct process_tree *tree, int rank, int ranks)
{
    return tree->parents != NULL ? tree->parents[rank - 1] : BINARY.parent(rank, ranks);
}

/* The lower rank first; both 0 at a leaf. */
static void find_children(const struct process_tree *tree, int rank, int ranks, int children[2])
{
    children[0] = children[1] = 0;
    for (int child = rank + 1, found = 0; child < ranks && found < 2; child++) {
        if (parent_of(tree, child, ranks) == rank) {
            children[found++] = child;
        }
    }
}

/* Of `count` numbers at the root, those that come to a rank: half of them at each step down. */
static int count_at(const struct process_tree *tree, int rank, int ranks, int count)
{
    int above = 0;
    while (above != rank) {
        int next = rank;
        while (parent_of(tree, next, ranks) != above) {
            next = parent_of(tree, next, ranks);
        }
        int children[2];
        find_children(tree, above, ranks, children);
        count = next == children[0] ? count / 2 : count - count / 2;
        above = next;
    }
    return count;
}

struct node process_tree_node(const struct process_tree *tree, int rank, int ranks, int count)
{
    struct node node = {.count = count_at(tree, rank, ranks, count)};
    node.parent = rank > 0 ? parent_of(tree, rank, ranks) : 0;
    find_children(tree, rank, ranks, node.children);
    node.parts[0] = node.count / 2;
    node.parts[1] = node.count - node.parts[0];
    return node;
}

/* Reads a number and moves `*text` past it; -1 when there is none. */
static long next_number(const char **text)
{
    char *end = NULL;
    const long number = isdigit((unsigned char)**text) ? strtol(*text, &end, 10) : -1;
    *text = end != NULL ? end : *text;
    return number;
}

/* Each parent has two children. */
static bool is_full(const struct process_tree *tree, const char *text, struct refusal *refusal)
{
    for (int rank = 0; rank < tree->count; rank++) {
        int children = 0;
        for (int i = 0; i < tree->count; i++) {
            children += tree->parents[i] == rank;
        }
        if (children != 0 && children != 2) {
            return refuse(refusal,
                          "--tree: '%s' is not a full binary tree: rank %d has %d child%s; give "
                          "each parent two, such as 0,0,1,1,2,2",
                          text, rank, children, children == 1 ? "" : "ren");
        }
    }
    return true;
}

bool process_tree_parse(struct process_tree *tree, const char *text, struct refusal *refusal)
{
    tree->count = 0;
    for (const char *at = text;; at++) {
        const long parent = next_number(&at);
        if (parent < 0 || parent > tree->count || (*at != ',' && *at != '\0')) {
            return refuse(refusal,
                          "--tree: '%s' must give, for each rank from 1 on, a lower rank as its "
                          "parent, separated by commas, such as 0,0,1,1,2,2",
                          text);
        }
        tree->parents =
            reallocate(tree->parents, (size_t)(tree->count + 1) * sizeof *tree->parents);
        tree->parents[tree->count++] = (int)parent;
        if (*at == '\0') {
            return is_full(tree, text, refusal);
        }
    }
}
