"""The claims of five published studies, tested with our own measurements.

There is one module for each study. Verdicts depend on intervals, never on a single number.
"""
