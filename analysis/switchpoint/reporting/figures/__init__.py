"""Draws the report's figures with Plotly: curves with their findings, and what ranks did when."""
