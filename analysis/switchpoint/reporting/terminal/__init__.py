"""Prints results for people in the terminal, short and clear: one module for each thing printed.

`tables` and `words` hold what they share.
"""
