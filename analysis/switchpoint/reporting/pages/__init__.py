"""Writes the report as a folder of static pages: an overview, then one page a site, kernel and run.

A module for each page says what it shows; `page` is what all of them are made of.
"""
