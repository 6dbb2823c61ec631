/* All-to-all as a list of slots: to which rank each rank sends which packet, slot by slot.
 */
#ifndef SWITCHPOINT_EXCHANGE_SCHEDULE_H
#define SWITCHPOINT_EXCHANGE_SCHEDULE_H

/* The order of the slots. In every slot the destinations of all ranks are a permutation, and every
 * packet of every pair has exactly one slot. */
enum schedule {
    SHIFT,    /* all packets to the next rank, then all packets to the one after it, ... */
    PAIRWISE, /* like SHIFT, partners by exclusive or; ranks are a power of two */
    SYNCHRONOUS_SHUFFLE, /* one packet to each other rank in turn, then the next packet to each */
    GROUP_SHUFFLE        /* the same within groups, group after group */
};

struct exchange {
    int ranks;
    int packets; /* for each pair */
    int group;   /* ranks in a group, a divisor of `ranks`; GROUP_SHUFFLE only */
};

struct slot {
    int peer; /* the rank itself in an idle slot */
    int packet;
};

/* Slots of an exchange, idle ones included. */
long slot_count(enum schedule schedule, const struct exchange *exchange);

/* The peer to which `rank` sends in a slot, and the peer from which it receives. */
struct slot slot_to(enum schedule schedule, const struct exchange *exchange, int rank, long slot);
struct slot slot_from(enum schedule schedule, const struct exchange *exchange, int rank, long slot);

#endif
