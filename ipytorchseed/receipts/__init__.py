"""Receipts: the records of a notebook's run, without what is private, for other machines."""
