"""Compares sites, MPIs and sessions with each other, and our kernels with other benchmarks.

Only times of the same quantity, taken in the same way, are compared.
"""
