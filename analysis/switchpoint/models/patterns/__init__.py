"""The kernels' communication patterns: what each rank does, one module for each kernel.

They do what the C sources in `src/kernels/` do, in the same order.
"""
