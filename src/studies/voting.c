/* Voting: every rank has a ballot with a vote on each question, and some votes are wrong. In the
 * end all ranks know the vote of the majority, as replicas in a fault-tolerant system do. */
#include <string.h>

#include "application.h"
#include "collectives.h"
#include "input.h"
#include "space.h"

typedef uint64_t vote;

static long question_count(const struct task *t)
{
    return count_of(t) / (long)sizeof(vote);
}

/* The pieces of the receive buffer. */
struct work {
    vote *decisions;       /* the result, on every rank */
    vote *ballots;         /* of all ranks, whole or in part, one after the other */
    struct part *shares;   /* of the questions */
    struct part *arrivals; /* this rank's share of each ballot */
    size_t bytes;          /* of all pieces */
};

static struct work work_of(const struct task *t)
{
    struct space space = {.block = t->receive};
    const size_t bytes = (size_t)count_of(t);
    const size_t ranks = (size_t)t->ranks;
    struct work work = {
        .decisions = cut(&space, bytes),
        .ballots = cut(&space, ranks * bytes),
        .shares = cut(&space, ranks * sizeof(struct part)),
        .arrivals = cut(&space, ranks * sizeof(struct part)),
    };
    work.bytes = space.used;
    return work;
}

static size_t work_bytes(const struct task *t)
{
    return work_of(t).bytes;
}

/* Boyer and Moore 1991: each vote against the candidate cancels one for it. More than half of the
 * votes agree here, so that the candidate in the end needs no second count. */
static vote majority(const vote *votes, long voters, long stride)
{
    vote candidate = 0;
    long lead = 0;
    for (long voter = 0; voter < voters; voter++) {
        const vote v = votes[voter * stride];
        if (lead == 0) {
            candidate = v;
        }
        lead += v == candidate ? 1 : -1;
    }
    return candidate;
}

/* One ballot after the other, each with votes on `questions`. */
static void count_votes(const vote *ballots, long voters, long questions, vote *decisions)
{
    for (long question = 0; question < questions; question++) {
        decisions[question] = majority(ballots + question, voters, questions);
    }
}

/* Every rank's ballot goes to all ranks, and each counts all votes: no rank has to trust the count
 * of another. */
static void vote_everywhere(const struct task *t)
{
    const struct work work = work_of(t);
    const long questions = question_count(t);
    struct stopwatch watch = stopwatch_start();
    memcpy(work.ballots + t->rank * questions, t->send, (size_t)count_of(t));
    for (int rank = 0; rank < t->ranks; rank++) {
        broadcast(t, work.ballots + rank * questions, (size_t)count_of(t), rank);
    }
    lap(&watch, t, EXCHANGE);
    count_votes(work.ballots, t->ranks, questions, work.decisions);
    lap(&watch, t, COMPUTE);
}

/* Each rank counts the votes on its share of the questions, and sends its decisions to all. */
static void vote_in_shares(const struct task *t)
{
    const struct work work = work_of(t);
    struct stopwatch watch = stopwatch_start();
    even_parts(work.shares, question_count(t), sizeof(vote), t->ranks);
    const struct part mine = work.shares[t->rank];
    for (int rank = 0; rank < t->ranks; rank++) {
        work.arrivals[rank] = (struct part){(size_t)rank * mine.bytes, mine.bytes};
    }
    exchange(t, t->send, work.shares, work.ballots, work.arrivals);
    lap(&watch, t, EXCHANGE);
    count_votes(work.ballots, t->ranks, (long)(mine.bytes / sizeof(vote)),
                work.decisions + mine.offset / sizeof(vote));
    lap(&watch, t, COMPUTE);
    for (int rank = 0; rank < t->ranks; rank++) {
        broadcast(t, work.decisions + work.shares[rank].offset / sizeof(vote),
                  work.shares[rank].bytes, rank);
    }
    lap(&watch, t, EXCHANGE);
}

static void vote_on_root(const struct task *t)
{
    count_votes((const vote *)(const void *)t->send, t->ranks, question_count(t),
                work_of(t).decisions);
}

static vote right_answer(uint64_t key, long question)
{
    return drawn(key, (uint64_t)question);
}

/* On each question the largest minority is wrong, its members take turns, and they agree with each
 * other. */
static vote vote_of(const struct task *t, uint64_t key, int rank, long question)
{
    const bool wrong = (question + rank) % t->ranks < (t->ranks - 1) / 2;
    return right_answer(key, question) ^ (wrong ? 1 : 0);
}

/* This rank's ballot; on rank 0 those of all, for the serial mode. */
static size_t ballot_bytes(const struct task *t)
{
    return (t->rank == 0 ? (size_t)t->ranks : 1) * (size_t)count_of(t);
}

static void fill(const struct task *t, uint64_t key)
{
    const long ballots = t->rank == 0 ? t->ranks : 1;
    vote *next = (vote *)(void *)t->send;
    for (int ballot = 0; ballot < ballots; ballot++) {
        for (long question = 0; question < question_count(t); question++) {
            *next++ = vote_of(t, key, t->rank + ballot, question);
        }
    }
}

static struct verdict compare(const struct task *t, uint64_t key)
{
    struct verdict verdict = {0};
    for (long question = 0; question < question_count(t); question++) {
        verdict.compared++;
        verdict.wrong += work_of(t).decisions[question] != right_answer(key, question);
    }
    return verdict;
}

static struct verdict check_on_root(const struct task *t, uint64_t key)
{
    return t->rank == 0 ? compare(t, key) : (struct verdict){0};
}

static bool suits_votes(const struct task *t, struct refusal *refusal)
{
    const int bytes = (int)sizeof(vote);
    return (count_of(t) > 0 && count_of(t) % bytes == 0) ||
           refuse(refusal, "--sizes: %d bytes are not one or more votes of %d bytes; use %d",
                  count_of(t), bytes, (count_of(t) / bytes + 1) * bytes);
}

static const struct result DECIDED_EVERYWHERE = {work_bytes, fill, compare};
static const struct result DECIDED_ON_ROOT = {work_bytes, fill, check_on_root};

static const struct mode MODES[] = {
    {.name = "everywhere",
     .summary = "each rank broadcasts its ballot, all count; time_us: until the last rank knows",
     .source = "replicas that vote; our reconstruction (study 004: voting)",
     .run = run_on_all,
     .variant = &(const struct solver){vote_everywhere},
     .result = &DECIDED_EVERYWHERE,
     .send_bytes = ballot_bytes,
     .suits = suits_votes},
    {.name = "shares",
     .summary = "each rank counts a share of the questions, then broadcasts its decisions",
     .source = "the same with the counting divided by an all-to-all",
     .run = run_on_all,
     .variant = &(const struct solver){vote_in_shares},
     .result = &DECIDED_EVERYWHERE,
     .send_bytes = ballot_bytes,
     .suits = suits_votes},
    {.name = "serial",
     .summary = "rank 0 has all ballots and counts while the other ranks sleep",
     .source = "Boyer and Moore 1991; the base case of the speed-up",
     .run = run_on_root,
     .variant = &(const struct solver){vote_on_root},
     .at_root = true,
     .result = &DECIDED_ON_ROOT,
     .send_bytes = ballot_bytes,
     .suits = suits_votes},
    {0},
};

int main(int argc, char **argv)
{
    const struct kernel voting = {
        .name = "voting",
        .summary = "majority of every rank's votes of 8 bytes; --sizes: bytes of one ballot",
        .modes = MODES,
        .sizes = "16K:1M",
    };
    return application_main(argc, argv, voting);
}
