/* Complete exchange as a list of slots: to whom each rank sends which packet, slot by slot.
 * After Tam, Complete Exchange on clusters (study 003), whose summary names the algorithms; the
 * packet-level order of both shuffles and how groups are formed are our reconstruction. */
#include "exchange_schedule.h"

long slot_count(enum schedule schedule, const struct exchange *exchange)
{
    const long peers = schedule == GROUP_SHUFFLE ? exchange->ranks : exchange->ranks - 1;
    return peers * exchange->packets;
}

/* The peer at a distance (in groups and within the group), ahead for sends and behind for receives.
 */
static int in_group(const struct exchange *exchange, int rank, int stage, int distance)
{
    const int group = exchange->group;
    const int groups = exchange->ranks / group;
    const int peers_group = (rank / group + stage + groups) % groups;
    return peers_group * group + (rank % group + distance + group) % group;
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
        return (struct slot){(rank + direction * (major + 1) + ranks) % ranks, minor};
    case PAIRWISE:
        return (struct slot){rank ^ (major + 1), minor};
    case SYNCHRONOUS_SHUFFLE: {
        const int distance = 1 + (int)(slot % (ranks - 1));
        return (struct slot){(rank + direction * distance + ranks) % ranks,
                             (int)(slot / (ranks - 1))};
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
