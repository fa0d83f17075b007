"""Runs notebooks in fresh kernels and compares the runs.

Do they repeat, and if not, why.
"""
