"""Compares measurements: our kernels with other benchmarks, and tools with each other.

Both sides come from the same site, MPI and placement.
"""
