/* The tables in which UCX prints its choice of protocols: its log and its description of an
 * endpoint have the same.
 *
 *     | mpi inter-node cfg#2 | tagged message by ucp_tag_send* from host memory |
 *     |              0..8247 | eager short                      | tcp/eth0 |
 */
#ifndef SWITCHPOINT_UCX_TABLE_H
#define SWITCHPOINT_UCX_TABLE_H

#include <stdbool.h>

#include "json.h"

/* Cuts the next cell out of a row, which begins after its first bar, without blanks around it. NULL
 * after the last. */
char *ucx_table_cell(char **row);

/* Whether the first cell of a row of three has sizes: further lines of a protocol have none. */
bool ucx_table_is_range(const char *cell);

/* Writes an object of a row of sizes such as "256K..inf" or "0", protocol and path. */
void ucx_table_range_write(struct json *json, const char *sizes, const char *protocol,
                           const char *path);

#endif
