"""Makes rules for the algorithms of collectives from what was measured, and tests them again.

A rule is kept where it is faster than the library's own choice in every launch.
"""
