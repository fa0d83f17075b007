"""Receipts: the records of a notebook's run without private content."""
