"""Runs remembered: frozen records, and the one place that keeps them."""
