/* Modes that call the MPI library, once for each of its algorithms: "library:ring". */
#ifndef SWITCHPOINT_ALGORITHM_MODES_H
#define SWITCHPOINT_ALGORITHM_MODES_H

#include <mpi.h>
#include <stddef.h>

#include "algorithms.h"
#include "kernel.h"
#include "options.h"
#include "refusal.h"

/* What the added modes need; free with algorithm_modes_free before MPI_Finalize. */
struct algorithm_modes {
    struct algorithm *algorithms;
    size_t algorithm_count;
    struct mode *modes;
    size_t mode_count;
};

/* Collective. Adds to the modes of `options` those of the algorithms that `--algorithms` names, if
 * it is given, each after the mode that it is made of. Refuses names that the library does not
 * have, and kernels that call no collective. */
void algorithm_modes_add(MPI_Comm comm, const struct kernel *kernel, struct options *options,
                         struct algorithm_modes *added, struct refusal *refusal);
void algorithm_modes_free(struct algorithm_modes *added);

#endif
