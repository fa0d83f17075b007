"""Explains why two runs of a cell gave different results: pure functions over their records."""
