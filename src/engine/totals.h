/* What the whole job did, over all ranks. */
#ifndef SWITCHPOINT_TOTALS_H
#define SWITCHPOINT_TOTALS_H

#include <stdint.h>

#include "session.h"

/* Valid on rank 0. */
struct totals {
    int64_t samples_kept;
    int64_t payloads;
    int64_t payload_errors;
    int64_t arrived;
    int64_t bytes_moved;
    double clock_error_us; /* of blocks that started at an agreed time */
};

/* Collective. Also replaces the counts of each of the plan's points by their sums over all ranks,
 * on rank 0. */
struct totals add_up(struct session *session);

#endif
