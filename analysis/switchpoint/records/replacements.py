"""The modes of our collective kernels that do the same by other calls of the MPI library."""

from __future__ import annotations

#: By kernel: the calls of each replacement by its mode, as `src/kernels/` defines them.
REPLACEMENTS = {
    "allgather": {"gather_then_bcast": "MPI_Gather + MPI_Bcast"},
    "allreduce": {"reduce_then_bcast": "MPI_Reduce + MPI_Bcast"},
    "barrier": {"by_allreduce": "MPI_Allreduce of one int"},
    "broadcast": {"scatter_then_allgather": "MPI_Scatter + MPI_Allgather"},
    "gather": {"by_allgather": "MPI_Allgather"},
    "reduce": {"by_allreduce": "MPI_Allreduce"},
    "reduce_scatter": {"reduce_then_scatter": "MPI_Reduce + MPI_Scatter"},
    "scatter": {"by_bcast": "MPI_Bcast"},
}
