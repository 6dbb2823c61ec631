"""Run records: what a kernel wrote, and what follows from it.

Reads one file at a time; knows nothing of tables or curves.
"""
