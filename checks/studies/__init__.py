"""ReFrame checks of what only the published studies measured: merge sort, applications, echo."""
