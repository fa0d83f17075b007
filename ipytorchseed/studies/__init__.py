"""Runs code under many seeds, and measures how much the results depend on them."""
