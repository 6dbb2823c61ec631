"""Runs a run again elsewhere: what it needs, and the folder that holds it.

It works from a record or from a run in the store.
"""
