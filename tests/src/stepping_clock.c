/* Replaces the clock of the MPI library by one that an administrator, or NTP, sets again and again.
 */
#include <mpi.h>

double MPI_Wtime(void)
{
    static const double STEPS_S[] = {0, 3600, -3600, 0.5};
    static int readings;
    return PMPI_Wtime() + STEPS_S[readings++ % 4];
}
