"""The gate: a session compared with the nights before it.

It imports measurements, detection and records, and knows nothing of this machine.
"""
