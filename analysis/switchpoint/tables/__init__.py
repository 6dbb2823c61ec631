"""The tables that all stages share: columns, samples and runs, curves, and their names.

This package only contains columns and summaries. It decides nothing about a curve.
"""
