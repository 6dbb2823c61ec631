/* What UCX prints about an endpoint: through which lanes it leads, and which protocols it uses. */
#ifndef SWITCHPOINT_UCX_ENDPOINT_TEXT_H
#define SWITCHPOINT_UCX_ENDPOINT_TEXT_H

#include <stdbool.h>

#include "json.h"

/* Begins an object with `lanes` and `tag_send`, which the caller closes. Cuts the text into pieces.
 * False where the endpoint leads to its own process: it has a lane of the transport `self`. */
bool ucx_endpoint_describe(struct json *object, char *printed);

#endif
