/* Streams: windows of messages in flight within each pair. */
#ifndef SWITCHPOINT_STREAMS_H
#define SWITCHPOINT_STREAMS_H

#include "kernel.h"

/* The `variant` of run_stream: the call that sends. */
typedef int isend_function(const void *, int64_t, int, int, MPI_Comm, MPI_Request *);
struct streaming {
    isend_function *isend;
};
extern const struct streaming WITH_ISEND;
extern const struct streaming WITH_ISSEND;

/* A window from the rank that leads, then an empty acknowledgement. */
void run_stream(const struct task *t, long iterations);
long stream_messages(const struct task *t);
size_t stream_bytes(const struct task *t);
bool arrival_stream(const struct task *t, int index, struct arrival *arrival);

/* A window each way at once. */
void run_bistream(const struct task *t, long iterations);
long bistream_messages(const struct task *t);
size_t bistream_requests(const struct task *t);
bool arrival_bistream(const struct task *t, int index, struct arrival *arrival);

#endif
