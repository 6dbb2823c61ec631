/* Each rank says where it is and how many there are; then all wait for each other. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char node[MPI_MAX_PROCESSOR_NAME];
    int rank = 0;
    int ranks = 0;
    int length = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Get_processor_name(node, &length);
    printf("rank %d of %d on %s\n", rank, ranks, node);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
