"""Decides what of a run record may be used to start something: its author may be anybody.

Everything is on a list: settings, launchers with their options, options of the kernels, places of
programs. What is not on its list is left out and named.
"""
