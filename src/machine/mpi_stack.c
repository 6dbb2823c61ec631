/* The settings of what lies below MPI in this process, and the parts of it that are in use. */
#include "mpi_stack.h"

#include "glibc.h"
#include "libfabric.h"
#include "openmpi_components.h"
#include "tcp_settings.h"
#include "ucx_settings.h"

void mpi_stack_write(struct json *json, const char *key)
{
    json_open(json, key, '{');
    ucx_settings_write(json, "ucx");
    libfabric_write(json, "libfabric");
    openmpi_components_write(json, "selected");
    tcp_settings_write(json, "tcp");
    glibc_write(json, "glibc");
    json_close(json, '}');
}
