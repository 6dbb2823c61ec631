"""The tables that all stages share: columns, samples and runs, curves, and how they are named.

Only shapes and summaries live here; nothing is decided about a curve.
"""
