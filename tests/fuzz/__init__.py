"""Hostile input: made at random from real results, and judged by what the command does with it."""
