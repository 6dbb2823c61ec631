/* What the whole job did, over all ranks. */
#include "totals.h"

#include <stdlib.h>

#include "memory.h"
#include "mpi_check.h"

struct totals add_up(struct session *session)
{
    MPI_Comm comm = session->task.comm;
    struct plan *plan = &session->plan;
    struct totals totals = {0};
    MPI_CHECK(
        MPI_Reduce(&session->bytes_moved, &totals.bytes_moved, 1, MPI_INT64_T, MPI_SUM, 0, comm));
    MPI_CHECK(MPI_Reduce(&session->start.clock_error_us, &totals.clock_error_us, 1, MPI_DOUBLE,
                         MPI_MAX, 0, comm));

    struct counts *own = allocate(plan->count, sizeof *own);
    struct counts *all = allocate(plan->count, sizeof *all);
    for (size_t i = 0; i < plan->count; i++) {
        own[i] = plan->points[i].counts;
    }
    const size_t numbers = plan->count * sizeof *own / sizeof(int64_t);
    MPI_CHECK(MPI_Reduce(own, all, (int)numbers, MPI_INT64_T, MPI_SUM, 0, comm));
    for (size_t i = 0; i < plan->count; i++) {
        plan->points[i].counts = all[i];
        totals.payloads += all[i].payloads;
        totals.payload_errors += all[i].payload_errors;
        totals.arrived += all[i].arrived;
        totals.samples_kept += (int64_t)plan->points[i].samples.kept;
    }
    free(all);
    free(own);
    return totals;
}
