/* Round trips of one message within each pair, and exchanges of one message each way. */
#ifndef SWITCHPOINT_ROUND_TRIPS_H
#define SWITCHPOINT_ROUND_TRIPS_H

#include "kernel.h"

/* The `variant` of run_ping_pong: the call that sends. */
typedef int send_function(const void *, int64_t, int, int, MPI_Comm);
struct sending {
    send_function *send;
};
extern const struct sending WITH_SEND;
extern const struct sending WITH_SSEND;
extern const struct sending WITH_BSEND;
extern const struct sending WITH_ISEND_AND_WAIT;

void run_ping_pong(const struct task *t, long iterations);

/* A rank sends on what it has just received, from the same buffer, so that one payload goes back
 * and forth. It comes from the send buffer of the rank that leads, which sends that first. */
void run_resend(const struct task *t, long iterations);
bool arrival_from_leader(const struct task *t, int index, struct arrival *arrival);

/* Ready sends: each to a receive that is known to be posted. */
void run_rsend(const struct task *t, long iterations);

/* Requests that are made once and started each time. */
void run_persistent(const struct task *t, long iterations);
size_t persistent_requests(const struct task *t);
void init_requests(const struct task *t);
void free_requests(const struct task *t);

/* Both messages at once. */
void run_sendrecv(const struct task *t, long iterations);

/* What MPI_Bsend needs: the message and, after it, its buffer. */
size_t message_and_buffer(const struct task *t);
bool suits_bsend(const struct task *t, struct refusal *refusal);
void attach_buffer(const struct task *t);
void detach_buffer(const struct task *t);

/* For all others: two messages, of which each rank receives one. */
long two_messages(const struct task *t);
bool arrival_from_peer(const struct task *t, int index, struct arrival *arrival);

#endif
