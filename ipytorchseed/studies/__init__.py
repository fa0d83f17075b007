"""Runs code under many seeds, and tells how much its results depend on the seed."""
