"""The store: Parquet datasets of samples, runs and single values, and the import of files.

It works on any fsspec URL and needs no server.
"""
