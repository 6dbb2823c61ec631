/* What the MPI library counts: its performance variables, read through MPI_T. */
#include "mpi_counters.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#ifdef SWITCHPOINT_MPI_T
enum { NAME_LENGTH = 256 };

struct counter {
    char name[NAME_LENGTH];
    MPI_Datatype type;
    MPI_T_pvar_handle handle;
    double at_start;
};

struct mpi_counters {
    MPI_T_pvar_session session;
    size_t count;
    struct counter counters[];
};

/* Whether a performance variable is a number that only grows, of the process as a whole. */
static bool counts(int index, struct counter *counter, int *continuous)
{
    int name_length = NAME_LENGTH;
    int description_length = 0;
    int verbosity = 0;
    int class = 0;
    int binding = 0;
    int read_only = 0;
    int atomic = 0;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    return MPI_T_pvar_get_info(index, counter->name, &name_length, &verbosity, &class,
                               &counter->type, &names, NULL, &description_length, &binding,
                               &read_only, continuous, &atomic) == MPI_SUCCESS &&
           binding == MPI_T_BIND_NO_OBJECT &&
           (class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_AGGREGATE);
}

/* MPI_T gives counters these types and no others. */
static double value_of(MPI_T_pvar_session session, const struct counter *counter)
{
    union {
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
        double d;
    } value = {0};
    if (MPI_T_pvar_read(session, counter->handle, &value) != MPI_SUCCESS) {
        return 0;
    }
    if (counter->type == MPI_UNSIGNED) {
        return value.u;
    }
    if (counter->type == MPI_UNSIGNED_LONG) {
        return (double)value.ul;
    }
    return counter->type == MPI_DOUBLE ? value.d : (double)value.ull;
}

/* Index of the counter of a name; -1 if there is none, and then `known` lists those that exist. */
static int find(const char *name, size_t length, struct counter *counter, int *continuous,
                char *known, size_t capacity)
{
    int count = 0;
    size_t listed = 0;
    known[0] = '\0';
    if (MPI_T_pvar_get_num(&count) != MPI_SUCCESS) {
        return -1;
    }
    for (int index = 0; index < count; index++) {
        if (!counts(index, counter, continuous)) {
            continue;
        }
        if (strlen(counter->name) == length && strncmp(counter->name, name, length) == 0) {
            return index;
        }
        if (listed < capacity) {
            listed += (size_t)snprintf(known + listed, capacity - listed, "%s%s",
                                       listed > 0 ? ", " : "", counter->name);
        }
    }
    return -1;
}

/* False where the library has no such counter. */
static bool start(struct mpi_counters *counters, const char *name, size_t length,
                  struct refusal *refusal)
{
    struct counter *counter = &counters->counters[counters->count];
    char known[256];
    int continuous = 0;
    int elements = 0;
    const int index = find(name, length, counter, &continuous, known, sizeof known);
    if (index < 0) {
        return refuse(refusal, "--mpi-counters: this MPI library has no counter '%.*s'; it has: %s",
                      (int)length, name, known[0] != '\0' ? known : "none");
    }
    if (MPI_T_pvar_handle_alloc(counters->session, index, NULL, &counter->handle, &elements) !=
            MPI_SUCCESS ||
        elements != 1) {
        return refuse(refusal, "--mpi-counters: '%s' is no single number here; leave it out",
                      counter->name);
    }
    if (!continuous) {
        MPI_T_pvar_start(counters->session, counter->handle);
    }
    counter->at_start = value_of(counters->session, counter);
    counters->count++;
    return true;
}

struct mpi_counters *mpi_counters_start(const char *names, struct refusal *refusal)
{
    size_t most = 1;
    for (const char *c = names; *c != '\0'; c++) {
        most += *c == ',';
    }
    struct mpi_counters *counters =
        allocate(1, sizeof *counters + most * sizeof counters->counters[0]);
    int thread_level = MPI_THREAD_SINGLE;
    bool started = MPI_T_init_thread(MPI_THREAD_SINGLE, &thread_level) == MPI_SUCCESS &&
                   MPI_T_pvar_session_create(&counters->session) == MPI_SUCCESS;
    if (!started) {
        refuse(refusal, "--mpi-counters: this MPI library has no MPI_T; leave it out");
    }
    for (const char *name = names; started && name != NULL;) {
        const size_t length = strcspn(name, ",");
        started = start(counters, name, length, refusal);
        name = name[length] == ',' ? name + length + 1 : NULL;
    }
    if (!started) {
        mpi_counters_free(counters);
        return NULL;
    }
    return counters;
}

void mpi_counters_write(struct json *json, const char *key, const struct mpi_counters *counters)
{
    json_open(json, key, '{');
    for (size_t i = 0; i < counters->count; i++) {
        const struct counter *counter = &counters->counters[i];
        json_number(json, counter->name, value_of(counters->session, counter) - counter->at_start);
    }
    json_close(json, '}');
}
#else
/* SimGrid's MPI has no MPI_T. */
struct mpi_counters *mpi_counters_start(const char *names, struct refusal *refusal)
{
    (void)names;
    refuse(refusal, "--mpi-counters: this MPI library has no MPI_T; leave it out");
    return NULL;
}

void mpi_counters_write(struct json *json, const char *key, const struct mpi_counters *counters)
{
    (void)json, (void)key, (void)counters;
}
#endif

void mpi_counters_free(struct mpi_counters *counters)
{
    free(counters);
}
