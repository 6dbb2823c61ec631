/* Stands between a program and MPI, linked or preloaded: a layer whose sends wait for their
 * receiver where a message and its header of 24 B are above a limit. The MPI's own limit must be
 * higher. FAKE_LAYER=one (default): the limit is a control variable of MPI_T that no catalogue
 * knows, fake_layer_limit. two: there is also fake_layer_segment_size, and the lower one decides.
 * constant: there is no variable, and the limit is 2048. rounded: as one, but the value is rounded
 * down to whole cache lines. Values come from the environment, as the
 * library has it: OMPI_MCA_fake_layer_limit, or MPIR_CVAR_FAKE_LAYER_LIMIT, which is the name too.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 24, CONSTANT = 2048, CACHE_LINE = 64 };

#ifdef OPEN_MPI
#define NAME(open_mpi, mpich) open_mpi
#define ENVIRONMENT_PREFIX "OMPI_MCA_"
#else
#define NAME(open_mpi, mpich) mpich
#define ENVIRONMENT_PREFIX ""
#endif

static struct variable {
    const char *name;
    const char *description;
    int value;
} variables[] = {
    {NAME("fake_layer_limit", "MPIR_CVAR_FAKE_LAYER_LIMIT"),
     "Longest message, with its header, that is sent without waiting for its receiver", 3072},
    {NAME("fake_layer_segment_size", "MPIR_CVAR_FAKE_LAYER_SEGMENT_SIZE"),
     "Size of a segment, which takes a message and its header", 3584},
};

static int is_kind(const char *kind)
{
    const char *wanted = getenv("FAKE_LAYER");
    return wanted != NULL && strcmp(wanted, kind) == 0;
}

static int variable_count(void)
{
    return is_kind("constant") ? 0 : is_kind("two") ? 2 : 1;
}

static void read_environment(void)
{
    static int is_read;
    for (int i = 0; i < variable_count() && !is_read; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", ENVIRONMENT_PREFIX, variables[i].name);
        const char *text = getenv(name);
        variables[i].value = text != NULL ? (int)strtol(text, NULL, 10) : variables[i].value;
    }
    is_read = 1;
}

static int waits(int count, MPI_Datatype type)
{
    int size = 0;
    int limit = variable_count() > 0 ? variables[0].value : CONSTANT;
    if (variable_count() > 1 && variables[1].value < limit) {
        limit = variables[1].value;
    }
    if (is_kind("rounded")) {
        limit -= limit % CACHE_LINE;
    }
    MPI_Type_size(type, &size);
    return (long long)count * size + HEADER > limit;
}

int MPI_Init(int *argc, char ***argv)
{
    read_environment();
    return PMPI_Init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    read_environment();
    return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return waits(count, type) ? PMPI_Ssend(data, count, type, to, tag, comm)
                              : PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    return waits(count, type) ? PMPI_Issend(data, count, type, to, tag, comm, request)
                              : PMPI_Isend(data, count, type, to, tag, comm, request);
}

/* The library's own variables come first. */
static struct variable *fake(int index)
{
    int own = 0;
    PMPI_T_cvar_get_num(&own);
    return index >= own && index < own + variable_count() ? &variables[index - own] : NULL;
}

/* A handle of ours is the address of its variable. */
static struct variable *fake_of(MPI_T_cvar_handle handle)
{
    for (int i = 0; i < variable_count(); i++) {
        if ((void *)handle == (void *)&variables[i]) {
            return &variables[i];
        }
    }
    return NULL;
}

static void give_text(const char *text, char *to, int *length)
{
    if (to != NULL && *length > 0) {
        snprintf(to, (size_t)*length, "%s", text);
    }
    *length = (int)strlen(text) + 1;
}

int MPI_T_cvar_get_num(int *count)
{
    const int code = PMPI_T_cvar_get_num(count);
    *count += variable_count();
    return code;
}

int MPI_T_cvar_get_index(const char *name, int *index)
{
    int own = 0;
    PMPI_T_cvar_get_num(&own);
    for (int i = 0; i < variable_count(); i++) {
        if (strcmp(name, variables[i].name) == 0) {
            *index = own + i;
            return MPI_SUCCESS;
        }
    }
    return PMPI_T_cvar_get_index(name, index);
}

int MPI_T_cvar_get_info(int index, char *name, int *name_length, int *verbosity, MPI_Datatype *type,
                        MPI_T_enum *names, char *description, int *description_length, int *binding,
                        int *scope)
{
    const struct variable *variable = fake(index);
    if (variable == NULL) {
        return PMPI_T_cvar_get_info(index, name, name_length, verbosity, type, names, description,
                                    description_length, binding, scope);
    }
    give_text(variable->name, name, name_length);
    give_text(variable->description, description, description_length);
    *verbosity = MPI_T_VERBOSITY_TUNER_BASIC;
    *type = MPI_INT;
    if (names != NULL) {
        *names = MPI_T_ENUM_NULL;
    }
    *binding = MPI_T_BIND_NO_OBJECT;
    *scope = MPI_T_SCOPE_LOCAL;
    return MPI_SUCCESS;
}

int MPI_T_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *handle, int *count)
{
    struct variable *variable = fake(index);
    if (variable == NULL) {
        return PMPI_T_cvar_handle_alloc(index, object, handle, count);
    }
    *handle = (void *)variable;
    *count = 1;
    return MPI_SUCCESS;
}

int MPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    if (fake_of(*handle) == NULL) {
        return PMPI_T_cvar_handle_free(handle);
    }
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

int MPI_T_cvar_read(MPI_T_cvar_handle handle, void *value)
{
    const struct variable *variable = fake_of(handle);
    if (variable == NULL) {
        return PMPI_T_cvar_read(handle, value);
    }
    *(int *)value = variable->value;
    return MPI_SUCCESS;
}

int MPI_T_cvar_write(MPI_T_cvar_handle handle, const void *value)
{
    struct variable *variable = fake_of(handle);
    if (variable == NULL) {
        return PMPI_T_cvar_write(handle, value);
    }
    variable->value = *(const int *)value;
    return MPI_SUCCESS;
}
