"""Runs the experiment that finds the cause of a switch: zooms with changed settings."""
