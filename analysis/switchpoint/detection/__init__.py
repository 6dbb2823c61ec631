"""Finds boundaries, outliers, noise bursts and inversions in curves.

It says what timing shows. The stage `explanation` names the cause.
"""
