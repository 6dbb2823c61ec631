/* A derived type for messages of more bytes than an int counts. */
#include "large_messages.h"

#include "mpi_check.h"

MPI_Datatype large_type(int64_t bytes)
{
    enum { GIB_SHIFT = 30 };
    static int64_t made_bytes;
    static MPI_Datatype made;
    if (bytes == made_bytes) {
        return made;
    }
    if (made_bytes > 0) {
        MPI_CHECK(MPI_Type_free(&made));
    }
    const int64_t whole_bytes = bytes >> GIB_SHIFT << GIB_SHIFT;
    const int counts[] = {(int)(bytes >> GIB_SHIFT), (int)(bytes - whole_bytes)};
    const MPI_Aint places[] = {0, (MPI_Aint)whole_bytes};
    MPI_Datatype parts[] = {MPI_DATATYPE_NULL, MPI_BYTE};
    MPI_CHECK(MPI_Type_contiguous(1 << GIB_SHIFT, MPI_BYTE, &parts[0]));
    MPI_CHECK(MPI_Type_create_struct(2, counts, places, parts, &made));
    MPI_CHECK(MPI_Type_commit(&made));
    MPI_CHECK(MPI_Type_free(&parts[0]));
    made_bytes = bytes;
    return made;
}
