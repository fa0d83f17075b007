"""Benchmarks that measure this package and similar tools in one run.

Absolute times differ between machines, so compare the ratios.
"""
