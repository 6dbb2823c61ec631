/* Stands between a kernel and MPI: says how many sends of a rank were in flight at most, where each
 * wait for one send ends it, and a wait for several ends them all. */
#include <mpi.h>
#include <stdio.h>

static MPI_Request sends[1024];
static int in_flight;
static int most;

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    const int code = PMPI_Isend(data, count, type, to, tag, comm, request);
    sends[in_flight++] = *request;
    most = in_flight > most ? in_flight : most;
    return code;
}

static void forget(MPI_Request request)
{
    for (int i = 0; i < in_flight; i++) {
        if (sends[i] == request) {
            sends[i] = sends[--in_flight];
            return;
        }
    }
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    forget(*request);
    return PMPI_Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    for (int i = 0; i < count; i++) {
        forget(requests[i]);
    }
    return PMPI_Waitall(count, requests, statuses);
}

int MPI_Finalize(void)
{
    fprintf(stderr, "most sends in flight: %d\n", most);
    return PMPI_Finalize();
}
