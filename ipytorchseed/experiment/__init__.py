"""Runs cells again on copies of what they found, and restores everything."""
