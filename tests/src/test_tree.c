/* Trees: every rank is the child of one parent, and parents and children agree. */
#include "check.h"
#include "tree.h"

enum { RANKS_MAX = 40 };

static void every_rank_is_the_child_of_its_parent(const struct tree *tree)
{
    for (int ranks = 1; ranks <= RANKS_MAX; ranks++) {
        int children = 0;
        for (int rank = 0; rank < ranks; rank++) {
            for (int k = 0, child = 0; (child = tree->child(rank, ranks, k)) < ranks; k++) {
                CHECK(child > rank); /* so that every chain of parents ends at the root */
                CHECK(tree->parent(child, ranks) == rank);
                children++;
            }
        }
        CHECK(children == ranks - 1);
    }
}

static bool is_below(int rank, int ancestor, int ranks)
{
    while (rank > ancestor) {
        rank = BINOMIAL.parent(rank, ranks);
    }
    return rank == ancestor;
}

static void a_binomial_subtree_is_contiguous(void)
{
    for (int ranks = 1; ranks <= RANKS_MAX; ranks++) {
        for (int top = 0; top < ranks; top++) {
            for (int rank = top; rank < ranks; rank++) {
                CHECK(is_below(rank, top, ranks) == (rank < binomial_end(top, ranks)));
            }
        }
    }
}

int main(void)
{
    every_rank_is_the_child_of_its_parent(&REPEATED);
    every_rank_is_the_child_of_its_parent(&BINARY);
    every_rank_is_the_child_of_its_parent(&TWO_LEVEL);
    every_rank_is_the_child_of_its_parent(&BINOMIAL);
    every_rank_is_the_child_of_its_parent(&CHAIN);
    a_binomial_subtree_is_contiguous();
    return check_result();
}
