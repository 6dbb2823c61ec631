/* The late-receiver probe: up to which size does MPI_Send return before its receive is posted? */
#ifndef SWITCHPOINT_LATE_RECEIVER_H
#define SWITCHPOINT_LATE_RECEIVER_H

#include "search.h"

/* The probe's columns in the record. */
extern const char *const LATE_RECEIVER_PHASES[];

/* What the probe keeps between visits. */
struct late_receiver {
    double hold_us;  /* the receiver waits at most this long before it posts its receive */
    double least_us; /* the shortest such time in which the receiver learns of a send */
};

/* The mode that probes one size once. Its `variant` is `late`. */
struct mode late_receiver_mode(const struct late_receiver *late);

/* Collective. Searches from low_bytes to high_bytes for the last size that is sent eagerly and the
 * first that is not, and fills in the outcome, which stays open where the run has used its time
 * budget. A send that returned early is proof, since the receiver saw a message that was sent after
 * it. A send that did not return is believed only when several sends agree and the receiver waited
 * several times as long as the whole transfer then took: MPI_Iprobe may take a while to see a
 * message that has arrived. */
void late_receiver_search(struct explorer *explorer, struct late_receiver *late,
                          struct search *search);

#endif
