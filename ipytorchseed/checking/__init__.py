"""Runs notebooks in fresh kernels and compares the runs: do they repeat, and if not, why."""
