/* What this process's own sockets carried. Counters of interfaces also count other programs. */
#ifndef SWITCHPOINT_SOCKETS_H
#define SWITCHPOINT_SOCKETS_H

#include "json.h"

/* Writes tcp_socket_bytes: bytes that the open TCP sockets have received, and bytes that their
 * peers acknowledged; and untold_sockets: the number of open sockets of other protocols between
 * machines, such as UDP, which do not tell what they carried. Nothing if the open files cannot be
 * listed, or the kernel does not count these bytes (Linux before 4.1). */
void sockets_write(struct json *json);

#endif
