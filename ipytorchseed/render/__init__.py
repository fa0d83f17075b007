"""Draws records as text, HTML and JSON: one view of each, for all front ends."""
