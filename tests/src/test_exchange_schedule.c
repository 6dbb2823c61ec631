/* The schedules of the complete exchange: every packet has one slot, and no rank is addressed twice
 * in a slot. */
#include "check.h"
#include "exchange_schedule.h"

enum { RANKS_MAX = 12, PACKETS_MAX = 4 };

static void every_packet_goes_once_and_no_two_to_one_rank(enum schedule schedule,
                                                          const struct exchange *exchange)
{
    int sent[RANKS_MAX][RANKS_MAX][PACKETS_MAX] = {0};
    for (long s = 0; s < slot_count(schedule, exchange); s++) {
        int addressed[RANKS_MAX] = {0};
        for (int rank = 0; rank < exchange->ranks; rank++) {
            const struct slot to = slot_to(schedule, exchange, rank, s);
            CHECK(to.peer >= 0 && to.peer < exchange->ranks);
            CHECK(to.packet >= 0 && to.packet < exchange->packets);
            CHECK(++addressed[to.peer] == 1);
            sent[rank][to.peer][to.packet]++;

            const struct slot from = slot_from(schedule, exchange, to.peer, s);
            CHECK(from.peer == rank && from.packet == to.packet);
        }
    }
    for (int rank = 0; rank < exchange->ranks; rank++) {
        for (int peer = 0; peer < exchange->ranks; peer++) {
            for (int packet = 0; packet < exchange->packets; packet++) {
                CHECK(rank == peer || sent[rank][peer][packet] == 1);
            }
        }
    }
}

static void all_schedules_are_complete_and_free_of_contention(void)
{
    for (int ranks = 2; ranks <= RANKS_MAX; ranks++) {
        for (int packets = 1; packets <= PACKETS_MAX; packets++) {
            struct exchange exchange = {ranks, packets, 1};
            every_packet_goes_once_and_no_two_to_one_rank(SHIFT, &exchange);
            every_packet_goes_once_and_no_two_to_one_rank(SYNCHRONOUS_SHUFFLE, &exchange);
            if ((ranks & (ranks - 1)) == 0) {
                every_packet_goes_once_and_no_two_to_one_rank(PAIRWISE, &exchange);
            }
            for (exchange.group = 1; exchange.group <= ranks; exchange.group++) {
                if (ranks % exchange.group == 0) {
                    every_packet_goes_once_and_no_two_to_one_rank(GROUP_SHUFFLE, &exchange);
                }
            }
        }
    }
}

/* Without the idle slots, the order of rank 0's packets is the same. */
static bool same_order(enum schedule a, enum schedule b, const struct exchange *exchange)
{
    long slot_b = 0;
    for (long slot_a = 0; slot_a < slot_count(a, exchange); slot_a++) {
        const struct slot of_a = slot_to(a, exchange, 0, slot_a);
        if (of_a.peer == 0) {
            continue;
        }
        const struct slot of_b = slot_to(b, exchange, 0, slot_b++);
        if (of_a.peer != of_b.peer || of_a.packet != of_b.packet) {
            return false;
        }
    }
    return slot_b == slot_count(b, exchange);
}

static void group_shuffle_spans_from_shift_to_synchronous_shuffle(void)
{
    const struct exchange ones = {6, 3, 1};
    const struct exchange pairs = {6, 3, 2};
    const struct exchange all = {6, 3, 6};
    CHECK(same_order(GROUP_SHUFFLE, SHIFT, &ones));
    CHECK(same_order(GROUP_SHUFFLE, SYNCHRONOUS_SHUFFLE, &all));
    CHECK(!same_order(GROUP_SHUFFLE, SHIFT, &pairs));
    CHECK(!same_order(GROUP_SHUFFLE, SYNCHRONOUS_SHUFFLE, &pairs));
}

int main(void)
{
    all_schedules_are_complete_and_free_of_contention();
    group_shuffle_spans_from_shift_to_synchronous_shuffle();
    return check_result();
}
