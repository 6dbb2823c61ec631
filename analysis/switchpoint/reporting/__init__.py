"""Presents results: HTML report, terminal, JSON.

Other stages need nothing that is computed here.
"""
