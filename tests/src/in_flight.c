/* Stands between a kernel and MPI: says how many sends and receives of a rank were in flight at
 * most. A wait ends them. */
#include <mpi.h>
#include <stdio.h>

struct flights {
    MPI_Request requests[1024];
    int count;
    int most;
};
static struct flights sends;
static struct flights receives;

static void start(struct flights *flights, MPI_Request request)
{
    flights->requests[flights->count++] = request;
    flights->most = flights->count > flights->most ? flights->count : flights->most;
}

static void end(struct flights *flights, MPI_Request request)
{
    for (int i = 0; i < flights->count; i++) {
        if (flights->requests[i] == request) {
            flights->requests[i] = flights->requests[--flights->count];
            return;
        }
    }
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    const int code = PMPI_Isend(data, count, type, to, tag, comm, request);
    start(&sends, *request);
    return code;
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    const int code = PMPI_Irecv(data, count, type, from, tag, comm, request);
    start(&receives, *request);
    return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    end(&sends, *request);
    end(&receives, *request);
    return PMPI_Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    for (int i = 0; i < count; i++) {
        end(&sends, requests[i]);
        end(&receives, requests[i]);
    }
    return PMPI_Waitall(count, requests, statuses);
}

int MPI_Finalize(void)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d: most in flight: sends %d, receives %d\n", rank, sends.most,
            receives.most);
    return PMPI_Finalize();
}
