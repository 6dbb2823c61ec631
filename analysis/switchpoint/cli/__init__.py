"""The `switchpoint` command: one module for each group of verbs.

Verbs read options, call a Python function of the same name, and print.
"""
