/* The algorithms of the MPI library's collectives, by the control variable that chooses among them:
 * coll_tuned_<operation>_algorithm in Open MPI, MPIR_CVAR_<OPERATION>_INTRA_ALGORITHM in MPICH. */
#ifndef SWITCHPOINT_ALGORITHMS_H
#define SWITCHPOINT_ALGORITHMS_H

#include <mpi.h>
#include <stddef.h>

#include "refusal.h"

/* One algorithm of one operation, and a communicator on which the operation uses it. Open MPI reads
 * its variable when a communicator is made, MPICH at each call. */
struct algorithm {
    char name[64]; /* the library's own, such as "recursive_doubling" */
    int value;     /* of the variable */
    int variable;  /* MPI_T's index of it */
    MPI_Comm comm;
};

/* Before MPI_Init. Lets Open MPI's component tuned take an algorithm that it is set to use, and
 * MPICH its own choice where one cannot be used, in place of an abort. */
void algorithms_allow(void);

/* Collective over `comm`. Lists the algorithms of an operation such as "allreduce" that take so
 * many ranks, each with its communicator. Refuses if the library has no variable for it. Free with
 * algorithms_free. */
struct algorithm *algorithms_of(MPI_Comm comm, const char *operation, size_t *count,
                                struct refusal *refusal);
void algorithms_free(struct algorithm *algorithms, size_t count);

/* From here on the operation uses the algorithm on its communicator. */
void algorithm_begin(const struct algorithm *algorithm);
/* The library chooses again. */
void algorithm_end(const struct algorithm *algorithm);

#endif
