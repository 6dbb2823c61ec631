/* Decisions that rank 0 takes for all ranks. */
#include "agreement.h"

#include "mpi_check.h"

bool root_says(MPI_Comm comm, bool answer)
{
    int said = answer;
    MPI_CHECK(MPI_Bcast(&said, 1, MPI_INT, 0, comm));
    return said != 0;
}
