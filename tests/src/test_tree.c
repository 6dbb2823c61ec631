/* Trees: every rank is reached from the root, and parents and children agree. */
#include "check.h"
#include "tree.h"

enum { RANKS_MAX = 40 };

/* Counts the ranks of a subtree, and checks that each child names its parent. */
static int ranks_below(const struct tree *tree, int rank, int ranks)
{
    int below = 0;
    for (int k = 0, child = 0; (child = tree->child(rank, ranks, k)) < ranks; k++) {
        CHECK(child > rank);
        CHECK(tree->parent(child, ranks) == rank);
        below += 1 + ranks_below(tree, child, ranks);
    }
    return below;
}

static void every_rank_is_reached_from_the_root(void)
{
    const struct tree *const trees[] = {&REPEATED, &BINARY, &TWO_LEVEL, &BINOMIAL, &CHAIN};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        for (int ranks = 1; ranks <= RANKS_MAX; ranks++) {
            CHECK(ranks_below(trees[i], 0, ranks) == ranks - 1);
        }
    }
}

static void a_binomial_subtree_is_contiguous(void)
{
    for (int ranks = 1; ranks <= RANKS_MAX; ranks++) {
        for (int rank = 0; rank < ranks; rank++) {
            CHECK(binomial_end(rank, ranks) - rank - 1 == ranks_below(&BINOMIAL, rank, ranks));
        }
    }
}

int main(void)
{
    every_rank_is_reached_from_the_root();
    a_binomial_subtree_is_contiguous();
    return check_result();
}
