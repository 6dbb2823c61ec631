"""Compares measurements: our kernels with other benchmarks, and tools with one another.

Both sides come from the same site, MPI and placement.
"""
