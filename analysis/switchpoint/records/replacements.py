"""The modes of our collective kernels that do the same by other calls of the MPI library."""

from __future__ import annotations

#: By kernel: the calls of each replacement by its mode, as `src/kernels/` defines them.
REPLACEMENTS = {
    "allgather": {"gather_then_bcast": "MPI_Gather + MPI_Bcast", "by_allgatherv": "MPI_Allgatherv"},
    "allreduce": {"reduce_then_bcast": "MPI_Reduce + MPI_Bcast"},
    "alltoall": {"by_alltoallv": "MPI_Alltoallv"},
    "barrier": {"by_allreduce": "MPI_Allreduce of one int"},
    "broadcast": {"scatter_then_allgather": "MPI_Scatter + MPI_Allgather"},
    "gather": {"by_allgather": "MPI_Allgather", "by_gatherv": "MPI_Gatherv"},
    "reduce": {"by_allreduce": "MPI_Allreduce"},
    "reduce_scatter": {"reduce_then_scatter": "MPI_Reduce + MPI_Scatter"},
    "scatter": {"by_bcast": "MPI_Bcast", "by_scatterv": "MPI_Scatterv"},
}
