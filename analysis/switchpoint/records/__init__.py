"""Run records: what a kernel wrote, and the facts that follow from it.

Reads one file at a time, and knows nothing about tables or curves.
"""
