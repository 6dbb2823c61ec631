"""Finds boundaries, outliers, noise bursts and inversions in curves.

It says what timing shows; naming a cause is the stage `explanation`.
"""
