"""Runs notebooks in fresh kernels and compares the runs.

It finds out whether they repeat, and if not, why.
"""
