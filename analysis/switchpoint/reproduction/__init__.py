"""Reproduces a run elsewhere: what the run needs, and a folder that runs it again.

It works from a record or from a run in the store.
"""
