"""Shows results to people and programs: HTML report, terminal, JSON.

Nothing is computed here that another stage needs.
"""
