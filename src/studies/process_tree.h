/* The tree of processes of the merge sort: each rank's place in it, and the numbers that it sorts.
 */
#ifndef SWITCHPOINT_PROCESS_TREE_H
#define SWITCHPOINT_PROCESS_TREE_H

#include "kernel.h"

struct process_tree {
    int *parents; /* of the ranks from 1 on; NULL: a heap */
    int count;    /* of parents */
};

/* A rank's place in the tree, and the numbers that it and its children sort. */
struct node {
    int parent;
    int children[2]; /* both 0 at a leaf */
    int count;       /* of numbers */
    int parts[2];    /* the numbers of each child */
};

/* `count` is the number of numbers at the root. */
struct node process_tree_node(const struct process_tree *tree, int rank, int ranks, int count);

/* Reads the parents of the ranks from 1 on, such as 0,0,1,1,2,2; refuses what is not a full binary
 * tree. Free `parents` with free(). */
bool process_tree_parse(struct process_tree *tree, const char *text, struct refusal *refusal);

#endif
