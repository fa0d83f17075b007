"""Runs notebooks in fresh kernels, and finds out whether and why they differ."""
