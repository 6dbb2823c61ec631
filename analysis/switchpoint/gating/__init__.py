"""The gate: a session compared with the sessions before it.

It imports measurements, detection and records, and knows nothing of this machine.
"""
