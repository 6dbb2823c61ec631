"""What five published studies claim, evaluated from our own measurements.

One module for each study; verdicts rest on intervals, never on one number.
"""
