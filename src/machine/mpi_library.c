/* Which MPI library this is, and its own settings: its control variables, read through MPI_T. */
#include "mpi_library.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "home_directory.h"
#include "memory.h"
#include "mpi_check.h"

void mpi_library_name(char name[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int length = 0;
    MPI_CHECK(MPI_Get_library_version(name, &length));
    name[strcspn(name, "\n")] = '\0';
}

#ifdef SWITCHPOINT_MPI_T
enum { NAME_LENGTH = 256 };

/* The name of a control variable, and what reading it needs. */
struct cvar {
    char name[NAME_LENGTH];
    MPI_Datatype type;
    int binding;
};

static int cvar_info(int index, struct cvar *cvar)
{
    int name_length = NAME_LENGTH;
    int description_length = 0;
    int verbosity = 0;
    int scope = 0;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    return MPI_T_cvar_get_info(index, cvar->name, &name_length, &verbosity, &cvar->type, &names,
                               NULL, &description_length, &cvar->binding, &scope);
}

static void write_value(struct json *json, const struct cvar *cvar, const void *value, int count)
{
    if (cvar->type == MPI_CHAR) {
        json_string_without_home(json, cvar->name, value);
    } else if (count != 1) {
        return;
    } else if (cvar->type == MPI_INT) {
        json_integer(json, cvar->name, *(const int *)value);
    } else if (cvar->type == MPI_UNSIGNED) {
        json_integer(json, cvar->name, *(const unsigned *)value);
    } else if (cvar->type == MPI_UNSIGNED_LONG) {
        json_number(json, cvar->name, (double)*(const unsigned long *)value);
    } else if (cvar->type == MPI_UNSIGNED_LONG_LONG) {
        json_number(json, cvar->name, (double)*(const unsigned long long *)value);
    } else if (cvar->type == MPI_COUNT) {
        json_integer(json, cvar->name, *(const MPI_Count *)value);
    } else if (cvar->type == MPI_DOUBLE) {
        json_number(json, cvar->name, *(const double *)value);
    }
}

static void write_cvar(struct json *json, int index)
{
    struct cvar cvar;
    if (cvar_info(index, &cvar) != MPI_SUCCESS || cvar.binding != MPI_T_BIND_NO_OBJECT) {
        return;
    }
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS) {
        return;
    }
    /* No type of MPI_T is larger than 8 bytes; one more element ends a string. */
    void *value = allocate((size_t)(count > 0 ? count : 0) + 1, sizeof(double));
    if (MPI_T_cvar_read(handle, value) == MPI_SUCCESS) {
        write_value(json, &cvar, value, count);
    }
    free(value);
    MPI_T_cvar_handle_free(&handle);
}

/* MPI_T stays initialised: from MPICH 4.1 to 5.0 MPI_T_finalize frees the library's own strings
 * while MPI still runs, and the fifth collective call in shared memory crashes (MPICH #7954). */
static void write_cvars(struct json *json)
{
    int thread_level = MPI_THREAD_SINGLE;
    int count = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &thread_level) == MPI_SUCCESS) {
        if (MPI_T_cvar_get_num(&count) == MPI_SUCCESS) {
            for (int index = 0; index < count; index++) {
                write_cvar(json, index);
            }
        }
    }
}
#else
/* SimGrid's MPI has no MPI_T. */
static void write_cvars(struct json *json)
{
    (void)json;
}
#endif

void mpi_library_write_cvars(struct json *json, const char *key)
{
    json_open(json, key, '{');
    write_cvars(json);
    json_close(json, '}');
}
