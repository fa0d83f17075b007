"""Notebooks run in fresh kernels and held against each other: do they repeat, and if not, why."""
