/* Where each rank really runs: host, CPUs, operating system, network; gathered on rank 0. */
#include "rank_facts.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "conditions.h"
#include "memory.h"
#include "mpi_check.h"
#include "nodes.h"
#include "system_files.h"
#include "topology.h"
#include "ucx_endpoints.h"
#include "ucx_protocols.h"

enum { CPUS_MAX = 8192 };

static void open_rank(MPI_Comm comm, struct json *mine);
static void close_rank(MPI_Comm comm, struct json *mine, struct json *json, const char *key);
static void write_facts(struct json *json);
static void write_cpus_allowed(struct json *json);
static void write_cpu_model(struct json *json);
static void write_cores_online(struct json *json);
static void write_boot_id(struct json *json);
static void write_net_namespace(struct json *json);
static void write_ptrace_scope(struct json *json);
static void write_huge_pages(struct json *json);
static void gather_objects(MPI_Comm comm, const char *object, struct json *json, const char *key);

void ranks_write_before(MPI_Comm comm, struct json *json, const char *key)
{
    struct json mine = {0};
    open_rank(comm, &mine);
    write_facts(&mine);
    conditions_write(&mine, "before");
    close_rank(comm, &mine, json, key);
}

void ranks_write_after(MPI_Comm comm, struct json *json, const char *key,
                       const struct mpi_counters *counters, bool ucx_asked)
{
    struct json mine = {0};
    open_rank(comm, &mine);
    conditions_write(&mine, "after");
    if (counters != NULL) {
        mpi_counters_write(&mine, "mpi_counters", counters);
    }
    if (ucx_asked) {
        ucx_protocols_write(&mine, "ucx_protocols");
    }
    ucx_endpoints_write(&mine, "ucx_endpoints");
    close_rank(comm, &mine, json, key);
}

/* Begins this rank's object with its number. */
static void open_rank(MPI_Comm comm, struct json *mine)
{
    int rank = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    json_open(mine, NULL, '{');
    json_integer(mine, "rank", rank);
}

/* Ends it, and writes those of all ranks on rank 0. */
static void close_rank(MPI_Comm comm, struct json *mine, struct json *json, const char *key)
{
    json_close(mine, '}');
    gather_objects(comm, mine->text, json, key);
    json_free(mine);
}

static void write_facts(struct json *json)
{
    char host[NODE_NAME_LENGTH];
    node_name(host);
    json_string(json, "host", host);
    json_string(json, "topology_address", getenv("SLURM_TOPOLOGY_ADDR"));
    json_string(json, "topology_pattern", getenv("SLURM_TOPOLOGY_ADDR_PATTERN"));
    write_cpus_allowed(json);
    json_integer(json, "cpu", sched_getcpu());
    write_cpu_model(json);
    write_cores_online(json);
    struct utsname kernel;
    json_string(json, "kernel_release", uname(&kernel) == 0 ? kernel.release : NULL);
    json_integer(json, "pid", getpid());
    write_net_namespace(json);
    topology_write(json, "topology");
    write_ptrace_scope(json);
    write_huge_pages(json);
    write_boot_id(json);
}

/* Simulated hosts share neither the cores nor the system of the machine that simulates them. */
static void write_cores_online(struct json *json)
{
#ifdef SWITCHPOINT_SIMULATED
    json_string(json, "cores_online", NULL);
#else
    json_integer(json, "cores_online", sysconf(_SC_NPROCESSORS_ONLN));
#endif
}

static void write_boot_id(struct json *json)
{
#ifdef SWITCHPOINT_SIMULATED
    json_string(json, "boot_id", NULL);
#else
    char boot_id[64];
    const bool booted = system_line("/proc/sys/kernel/random/boot_id", "", boot_id, sizeof boot_id);
    json_string(json, "boot_id", booted ? boot_id : NULL);
#endif
}

/* The CPUs that this process may use, as the operating system reports them. */
static void write_cpus_allowed(struct json *json)
{
    const size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *allowed = allocate(bytes, 1);
    json_open(json, "cpus_allowed", '[');
    if (sched_getaffinity(0, bytes, allowed) == 0) {
        for (size_t cpu = 0; cpu < CPUS_MAX; cpu++) {
            if (CPU_ISSET_S(cpu, bytes, allowed)) {
                json_integer(json, NULL, (int64_t)cpu);
            }
        }
    }
    json_close(json, ']');
    free(allowed);
}

static void write_cpu_model(struct json *json)
{
    char line[256];
    const char *model = NULL;
    if (system_line("/proc/cpuinfo", "model name", line, sizeof line)) {
        model = strchr(line, ':');
        model = model != NULL ? model + 1 + strspn(model + 1, " ") : NULL;
    }
    json_string(json, "cpu_model", model);
}

static void write_net_namespace(struct json *json)
{
    struct stat status;
    if (stat("/proc/self/ns/net", &status) == 0) {
        json_integer(json, "net_namespace", (int64_t)status.st_ino);
    } else {
        json_string(json, "net_namespace", NULL);
    }
}

/* Whether a rank may copy from another's memory, as single-copy transfers do: 0 is yes. Null where
 * the system has no such rule. */
static void write_ptrace_scope(struct json *json)
{
    char scope[64];
    if (system_line("/proc/sys/kernel/yama/ptrace_scope", "", scope, sizeof scope)) {
        json_integer(json, "ptrace_scope", strtol(scope, NULL, 10));
    } else {
        json_string(json, "ptrace_scope", NULL);
    }
}

/* A number of /proc/meminfo in its own unit; null where it has none. */
static void write_meminfo(struct json *json, const char *key, const char *name, int64_t unit)
{
    char line[128];
    if (system_line("/proc/meminfo", name, line, sizeof line)) {
        json_integer(json, key, unit * strtoll(line + strlen(name), NULL, 10));
    } else {
        json_string(json, key, NULL);
    }
}

static void write_huge_pages(struct json *json)
{
    char modes[128]; /* "always [madvise] never" */
    const char *mode = NULL;
    if (system_line("/sys/kernel/mm/transparent_hugepage/enabled", "", modes, sizeof modes)) {
        char *chosen = strchr(modes, '[');
        if (chosen != NULL) {
            chosen[strcspn(chosen, "]")] = '\0';
            mode = chosen + 1;
        }
    }
    json_open(json, "huge_pages", '{');
    json_string(json, "transparent", mode);
    write_meminfo(json, "size_bytes", "Hugepagesize:", 1024);
    write_meminfo(json, "total", "HugePages_Total:", 1);
    write_meminfo(json, "free", "HugePages_Free:", 1);
    json_close(json, '}');
}

static void gather_objects(MPI_Comm comm, const char *object, struct json *json, const char *key)
{
    int rank = 0;
    int ranks = 0;
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    MPI_CHECK(MPI_Comm_size(comm, &ranks));

    const int length = (int)strlen(object) + 1;
    int *lengths = allocate((size_t)ranks, sizeof *lengths);
    int *offsets = allocate((size_t)ranks, sizeof *offsets);
    MPI_CHECK(MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, comm));
    int total = 0;
    for (int i = 0; i < ranks; i++) {
        offsets[i] = total;
        total += lengths[i];
    }
    char *objects = allocate((size_t)total, 1);
    MPI_CHECK(MPI_Gatherv(object, length, MPI_CHAR, objects, lengths, offsets, MPI_CHAR, 0, comm));
    if (rank == 0) {
        json_open(json, key, '[');
        for (int i = 0; i < ranks; i++) {
            json_raw(json, NULL, objects + offsets[i]);
        }
        json_close(json, ']');
    }
    free(objects);
    free(offsets);
    free(lengths);
}
