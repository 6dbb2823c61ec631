/* The late-receiver probe: up to which size does MPI_Send return before its receive is posted? */
#ifndef SWITCHPOINT_LATE_RECEIVER_H
#define SWITCHPOINT_LATE_RECEIVER_H

#include "search.h"

/* Its columns in the record. */
extern const char *const LATE_RECEIVER_PHASES[];

/* What the probe keeps between visits; the kernel's settings begin with it. */
struct late_receiver {
    double hold_us;  /* how long the receiver holds its receive back, at most */
    double least_us; /* as short as that may be: long enough for the receiver to hear of a send */
};

/* One probe of one size. */
extern const struct mode LATE_RECEIVER;

/* Collective. Fills in the outcome of a search over low_bytes to high_bytes: the last size that is
 * sent eagerly and the first that is not. That a send returned early is proof, for the receiver saw
 * a message that was sent after it. That it did not is believed once the receiver has waited
 * several times as long as the whole transfer then took, several times over, and the send as well:
 * MPI_Iprobe may let a message that has arrived wait for a while. */
void late_receiver_search(struct explorer *explorer, struct late_receiver *late,
                          struct search *search);

#endif
