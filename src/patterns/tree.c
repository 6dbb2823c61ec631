/* Trees over the ranks, rooted at rank 0: which rank sends to which. */
#include "tree.h"

#include <limits.h>

static int parent_is_root(int rank, int ranks)
{
    (void)rank, (void)ranks;
    return 0;
}

static int child_repeated(int rank, int ranks, int position)
{
    return rank == 0 ? 1 + position : ranks;
}

const struct tree REPEATED = {parent_is_root, child_repeated};

static int parent_binary(int rank, int ranks)
{
    (void)ranks;
    return (rank - 1) / 2;
}

static int child_binary(int rank, int ranks, int position)
{
    return position < 2 ? 2 * rank + 1 + position : ranks;
}

const struct tree BINARY = {parent_binary, child_binary};

/* As nearly as possible as many relays as a relay has members. */
static int relay_count(int ranks)
{
    int relays = 1;
    while ((relays + 1) * (relays + 1) <= ranks - 1) {
        relays++;
    }
    return relays;
}

static int parent_two_level(int rank, int ranks)
{
    const int relays = relay_count(ranks);
    const int members = ranks - 1 - relays;
    return rank <= relays ? 0 : 1 + (int)((long)(rank - 1 - relays) * relays / members);
}

/* The first member of a relay; the first one of the next relay is its end. */
static int first_member(int relay, int ranks)
{
    const int relays = relay_count(ranks);
    const int members = ranks - 1 - relays;
    return 1 + relays + (int)(((long)(relay - 1) * members + relays - 1) / relays);
}

static int child_two_level(int rank, int ranks, int position)
{
    const int relays = relay_count(ranks);
    const int first = rank == 0 ? 1 : first_member(rank, ranks);
    const int end = rank == 0 ? 1 + relays : first_member(rank + 1, ranks);
    return rank <= relays && first + position < end ? first + position : ranks;
}

const struct tree TWO_LEVEL = {parent_two_level, child_two_level};

/* A rank's parent lacks the rank's lowest bit; its children have one more bit, below that. For the
 * root: the first power of two that is no rank. */
static int lowest_bit(int rank, int ranks)
{
    int bit = 1;
    while (rank == 0 ? bit < ranks : (rank & bit) == 0) {
        bit *= 2;
    }
    return bit;
}

static int parent_binomial(int rank, int ranks)
{
    return rank - lowest_bit(rank, ranks);
}

static int child_binomial(int rank, int ranks, int position)
{
    int bit = lowest_bit(rank, ranks) / 2;
    while (bit > 0 && rank + bit >= ranks) {
        bit /= 2;
    }
    bit = position < (int)(CHAR_BIT * sizeof bit) - 1 ? bit >> position : 0;
    return bit > 0 ? rank + bit : ranks;
}

const struct tree BINOMIAL = {parent_binomial, child_binomial};

int binomial_end(int rank, int ranks)
{
    const int end = rank + lowest_bit(rank, ranks);
    return end < ranks ? end : ranks;
}

static int parent_chain(int rank, int ranks)
{
    (void)ranks;
    return rank - 1;
}

static int child_chain(int rank, int ranks, int position)
{
    return position == 0 ? rank + 1 : ranks;
}

const struct tree CHAIN = {parent_chain, child_chain};
