"""Flags, alerts, and the scope that makes equal inputs give equal results."""
