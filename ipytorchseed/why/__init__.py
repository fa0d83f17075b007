"""Explains why two runs of a cell differ: pure functions over their records."""
