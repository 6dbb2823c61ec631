/* All-to-all as a list of slots: to which rank each rank sends which packet, slot by slot.
 * Follows Tam, Complete Exchange on clusters (study 003), whose summary names the algorithms; the
 * order of packets in both shuffles and the way groups are formed are our reconstruction. */
#include "exchange_schedule.h"

#include "shift.h"

long slot_count(enum schedule schedule, const struct exchange *exchange)
{
    const long peers = schedule == GROUP_SHUFFLE ? exchange->ranks : exchange->ranks - 1;
    return peers * exchange->packets;
}

/* The peer at a distance in groups and at a distance within the group; both are positive for sends
 * and negative for receives. */
static int in_group(const struct exchange *exchange, int rank, int stage, int distance)
{
    const int group = exchange->group;
    const int groups = exchange->ranks / group;
    return shifted(rank / group, groups, stage) * group + shifted(rank % group, group, distance);
}

static struct slot slot_in_direction(enum schedule schedule, const struct exchange *exchange,
                                     int rank, long slot, int direction)
{
    const int ranks = exchange->ranks;
    const int packets = exchange->packets;
    const int major = (int)(slot / packets);
    const int minor = (int)(slot % packets);
    switch (schedule) {
    case SHIFT:
        return (struct slot){shifted(rank, ranks, direction * (major + 1)), minor};
    case PAIRWISE:
        return (struct slot){rank ^ (major + 1), minor};
    case SYNCHRONOUS_SHUFFLE: {
        const int distance = 1 + (int)(slot % (ranks - 1));
        return (struct slot){shifted(rank, ranks, direction * distance), (int)(slot / (ranks - 1))};
    }
    case GROUP_SHUFFLE:
    default: {
        const long stage_slots = (long)packets * exchange->group;
        const int stage = (int)(slot / stage_slots);
        const int within = (int)(slot % stage_slots);
        return (struct slot){
            in_group(exchange, rank, direction * stage, direction * (within % exchange->group)),
            within / exchange->group};
    }
    }
}

struct slot slot_to(enum schedule schedule, const struct exchange *exchange, int rank, long slot)
{
    return slot_in_direction(schedule, exchange, rank, slot, 1);
}

struct slot slot_from(enum schedule schedule, const struct exchange *exchange, int rank, long slot)
{
    return slot_in_direction(schedule, exchange, rank, slot, -1);
}
