"""The store: Parquet datasets of samples, runs and single values, and how files get into it.

It works on any fsspec URL and needs no server.
"""
