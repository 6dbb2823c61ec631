/* What this process's own sockets carried. Counters of interfaces also count other programs. */
#ifndef SWITCHPOINT_SOCKET_BYTES_H
#define SWITCHPOINT_SOCKET_BYTES_H

#include "json.h"

/* Writes tcp_socket_bytes: bytes that the open TCP sockets have received, and bytes that their
 * peers acknowledged; and untold_sockets: the number of sockets that do not report what they
 * carried: open ones of other protocols between machines, such as UDP, and those of
 * socket_bytes_leave_untold. Nothing if the open files cannot be listed, or the kernel does not
 * count these bytes (Linux before 4.1). */
void socket_bytes_write(struct json *json);

/* From now on one more socket is untold: payload travels by a socket that is closed before the next
 * count, or that belongs to another process, such as a daemon. */
void socket_bytes_leave_untold(void);

#endif
