"""Reads run records and the output of other tools into measurements.

There is one reader for each format. The content of a file decides its format.
"""
