"""Writes a page for each of the five studies as Markdown, with its figures as SVG."""
