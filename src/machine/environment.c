/* The environment variables that configure the MPI library, and those that describe the Slurm job.
 */
#include "environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

/* Of the MPI libraries, and of the libraries below them: MVAPICH (MV2_, MVP_), PSM2 (PSM, HFI_),
 * verbs (IBV_, RDMAV_, MLX5_), Slingshot (CXI_), the C library. */
static const char *const SETTINGS[] = {
    "OMPI_", "PMIX_MCA_", "PRTE_",  "MPICH_", "MPIR_", "MV2_",   "MVP_",  "I_MPI_", "UCX_",   "FI_",
    "PSM",   "HFI_",      "HCOLL_", "IBV_",   "CXI_",  "RDMAV_", "MLX5_", "PSP_",   "GLIBC_",
};

/* Open MPI's launcher passes these to its processes: addresses and keys of one job, not settings.
 */
static const char *const JOB_INTERNALS[] = {"OMPI_MCA_orte_", "OMPI_MCA_ess_", "OMPI_COMMAND",
                                            "OMPI_ARGV", "OMPI_FILE_"};

static const struct {
    const char *variable;
    const char *key;
} SLURM[] = {
    {"SLURM_JOB_ID", "job_id"},           {"SLURM_STEP_ID", "step_id"},
    {"SLURM_JOB_NODELIST", "node_list"},  {"SLURM_CLUSTER_NAME", "cluster"},
    {"SLURM_JOB_PARTITION", "partition"},
};

static bool starts_with_any(const char *entry, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_setting(const char *entry)
{
    return starts_with_any(entry, SETTINGS, sizeof SETTINGS / sizeof SETTINGS[0]) &&
           !starts_with_any(entry, JOB_INTERNALS, sizeof JOB_INTERNALS / sizeof JOB_INTERNALS[0]);
}

void environment_write_mpi(struct json *json, const char *key)
{
    json_open(json, key, '{');
    for (char **entry = environ; *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals == NULL || !is_setting(*entry)) {
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
