/* The environment variables that steer the MPI library, and those that describe the Slurm job. */
#include "environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

static const char *const STEERING[] = {"OMPI_", "PMIX_MCA_", "PRTE_",  "MPICH_", "MPIR_",
                                       "UCX_",  "FI_",       "I_MPI_", "PSM",    "HCOLL_"};

static const struct {
    const char *variable;
    const char *key;
} SLURM[] = {
    {"SLURM_JOB_ID", "job_id"},           {"SLURM_STEP_ID", "step_id"},
    {"SLURM_JOB_NODELIST", "node_list"},  {"SLURM_CLUSTER_NAME", "cluster"},
    {"SLURM_JOB_PARTITION", "partition"},
};

static bool steers(const char *entry)
{
    for (size_t i = 0; i < sizeof STEERING / sizeof STEERING[0]; i++) {
        if (strncmp(entry, STEERING[i], strlen(STEERING[i])) == 0) {
            return true;
        }
    }
    return false;
}

void environment_write_mpi(struct json *json, const char *key)
{
    json_open(json, key, '{');
    for (char **entry = environ; *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals == NULL || !steers(*entry)) {
            continue;
        }
        const size_t length = (size_t)(equals - *entry);
        char *name = allocate(length + 1, 1);
        memcpy(name, *entry, length);
        json_string(json, name, equals + 1);
        free(name);
    }
    json_close(json, '}');
}

void environment_write_slurm(struct json *json, const char *key)
{
    json_open(json, key, '{');
    for (size_t i = 0; i < sizeof SLURM / sizeof SLURM[0]; i++) {
        const char *value = getenv(SLURM[i].variable);
        if (value != NULL) {
            json_string(json, SLURM[i].key, value);
        }
    }
    json_close(json, '}');
}
