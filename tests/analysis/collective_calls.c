/* Calls for which an algorithm that a rule names may not be made: data in one place, operations
 * that are not built in or do not commute, fewer elements than ranks. Ends with 1 if a result is
 * wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 16 };

/* Of maps x -> a x + b, one after the other: associative, but the order matters. */
static void compose(void *in, void *result, int *pairs, MPI_Datatype *type)
{
    (void)type;
    const long *first = in;
    long *then = result;
    for (int i = 0; i < 2 * *pairs; i += 2) {
        const long a = then[i];
        then[i] = a * first[i] % 1009;
        then[i + 1] = (a * first[i + 1] + then[i + 1]) % 1009;
    }
}

static int wrong(const char *what, int count, int is_wrong)
{
    if (is_wrong) {
        fprintf(stderr, "%s of %d elements is wrong\n", what, count);
    }
    return is_wrong;
}

/* The composed maps of ranks 0 to `ranks` - 1, where rank r has x -> (r + 2) x + r + i. */
static long constant_of(int ranks, int i)
{
    long b = 0;
    for (int r = 0; r < ranks; r++) {
        b = ((r + 2) * b + r + i) % 1009;
    }
    return b;
}

/* Whether some map of a result is wrong; the first one has the number `first`. */
static int differs(const long *out, int count, int ranks, int first)
{
    for (int i = 0; i < count; i++) {
        if (out[2 * i + 1] != constant_of(ranks, first + i)) {
            return 1;
        }
    }
    return 0;
}

static int check(int count, int rank, int ranks, MPI_Op maps, MPI_Datatype pair)
{
    static long in[MOST];
    static long out[MOST];
    int errors = 0;
    for (int i = 0; i < ranks * count; i++) {
        in[i] = 1000L * rank + i / count;
    }
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, MPI_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        errors += wrong("alltoall", count, in[r * count] != 1000L * r + rank);
    }
    for (int i = 0; i < count; i++) {
        in[i] = rank + i;
    }
    MPI_Allreduce(in, out, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    const long sum = ranks * (ranks - 1L) / 2;
    errors += wrong("allreduce", count, out[count - 1] != sum + ranks * (count - 1L));
    MPI_Allgather(in, count, MPI_LONG, out, count, MPI_LONG, MPI_COMM_WORLD);
    errors += wrong("allgather", count, out[(ranks - 1) * count] != ranks - 1);
    MPI_Bcast(out, count, MPI_LONG, 0, MPI_COMM_WORLD);
    errors += wrong("broadcast", count, out[count - 1] != count - 1);
    for (int i = 0; i < ranks * count; i++) {
        in[2 * i] = rank + 2;
        in[2 * i + 1] = rank + i;
    }
    MPI_Reduce_scatter_block(in, out, count, pair, maps, MPI_COMM_WORLD);
    errors += wrong("reduce_scatter", count, differs(out, count, ranks, rank * count));
    MPI_Allreduce(in, out, count, pair, maps, MPI_COMM_WORLD);
    errors += wrong("allreduce of maps", count, differs(out, count, ranks, 0));
    MPI_Reduce(in, out, count, pair, maps, 0, MPI_COMM_WORLD);
    return errors + wrong("reduce", count, rank == 0 && differs(out, count, ranks, 0));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    int errors = 0;
    MPI_Op maps = MPI_OP_NULL;
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &maps);
    for (int count = 1; 2 * ranks * count <= MOST; count *= 3) {
        errors += check(count, rank, ranks, maps, pair);
    }
    MPI_Op_free(&maps);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return errors > 0;
}
