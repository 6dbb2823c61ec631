/* Round-time synchronisation: all ranks start a block at one agreed time. */
#include "start.h"

#include <math.h>

#include "clock.h"
#include "mpi_check.h"

/* Where ranks share cores, no lead is certain to be long enough, and a longer one only takes time.
 */
static const double LEAD_MIN_US = 20;
static const double LEAD_MAX_US = 20000;

void start_prepare(MPI_Comm comm, struct start *start)
{
    const struct clock_offset offset = clock_offset_from_root(comm);
    start->ahead_us = offset.us;
    start->clock_error_us = fmax(start->clock_error_us, offset.error_us);
    start->lead_us = fmax(start->lead_us, LEAD_MIN_US);
}

double start_together(MPI_Comm comm, struct start *start)
{
    double agreed_us = clock_us() + start->lead_us;
    MPI_CHECK(MPI_Bcast(&agreed_us, 1, MPI_DOUBLE, 0, comm));
    agreed_us += start->ahead_us;
    start->late = clock_us() > agreed_us;
    while (clock_us() < agreed_us) {
    }
    return agreed_us;
}

bool start_was_late(MPI_Comm comm, struct start *start)
{
    int late = start->late;
    MPI_CHECK(MPI_Allreduce(MPI_IN_PLACE, &late, 1, MPI_INT, MPI_MAX, comm));
    if (late != 0) {
        start->lead_us = fmin(2 * start->lead_us, LEAD_MAX_US);
    }
    return late != 0;
}
