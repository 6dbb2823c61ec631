"""Reads run records and what other tools wrote into the one shape of measurements.

One reader for each format; each file is recognised by its content.
"""
