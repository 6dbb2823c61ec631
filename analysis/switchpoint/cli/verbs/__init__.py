"""One module for each verb: its options, a call of the Python function of its name, printing.

They import the analysis inside functions, so that `switchpoint --help` starts at once.
"""
