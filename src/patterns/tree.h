/* Trees over the ranks, rooted at rank 0: which rank sends to which. */
#ifndef SWITCHPOINT_TREE_H
#define SWITCHPOINT_TREE_H

struct tree {
    int (*parent)(int rank, int ranks);              /* of any rank except the root */
    int (*child)(int rank, int ranks, int position); /* in sending order; `ranks` after the last */
};

/* The root is the parent of all others. */
extern const struct tree REPEATED;

/* A binary heap: figure 2.30 of study 004 for 31 ranks. */
extern const struct tree BINARY;

/* The root has relays, the relays have members, about sqrt(ranks) of each: figure 2.31 of study 004
 * for 21 ranks, with relays 1 to 4 and members 5 to 20. */
extern const struct tree TWO_LEVEL;

/* The largest subtree first. */
extern const struct tree BINOMIAL;

/* Each rank is the parent of the next. */
extern const struct tree CHAIN;

/* The rank after the last one of a rank's subtree in BINOMIAL, whose ranks are contiguous. */
int binomial_end(int rank, int ranks);

#endif
