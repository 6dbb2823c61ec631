"""Prints results in the terminal, with one module for each kind of result.

`tables` and `words` contain their common parts.
"""
