"""Receipts: what a run of a notebook was made of, in a file for other people and machines."""
