/* Stands between a kernel and MPI_T: there are three performance variables. One counts eager sends,
 * which are all blocking ones of up to 1000 bytes, one is a high-water mark, and one needs a
 * communicator. */
#include <mpi.h>
#include <stdio.h>

static unsigned long long eager_sends;
static int started;

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    eager_sends += count <= 1000 && started;
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_T_pvar_get_num(int *count)
{
    *count = 3;
    return MPI_SUCCESS;
}

int MPI_T_pvar_get_info(int index, char *name, int *name_length, int *verbosity, int *class,
                        MPI_Datatype *type, MPI_T_enum *names, char *description,
                        int *description_length, int *binding, int *readonly, int *continuous,
                        int *atomic)
{
    static const char *const NAMES[] = {"eager_sends", "longest_queue", "sends_of_comm"};
    *name_length = snprintf(name, (size_t)*name_length, "%s", NAMES[index]) + 1;
    if (description != NULL && *description_length > 0) {
        description[0] = '\0';
    }
    *description_length = 1;
    *verbosity = MPI_T_VERBOSITY_USER_BASIC;
    *class = index == 1 ? MPI_T_PVAR_CLASS_HIGHWATERMARK : MPI_T_PVAR_CLASS_COUNTER;
    *type = MPI_UNSIGNED_LONG_LONG;
    *names = MPI_T_ENUM_NULL;
    *binding = index == 2 ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT;
    *readonly = 1;
    *continuous = 0;
    *atomic = 0;
    return MPI_SUCCESS;
}

int MPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object,
                            MPI_T_pvar_handle *handle, int *count)
{
    (void)session, (void)index, (void)object;
    *handle = MPI_T_PVAR_HANDLE_NULL;
    *count = 1;
    return MPI_SUCCESS;
}

int MPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    (void)session, (void)handle;
    started = 1;
    return MPI_SUCCESS;
}

int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *value)
{
    (void)session, (void)handle;
    *(unsigned long long *)value = 7 + eager_sends; /* since the library began */
    return MPI_SUCCESS;
}
