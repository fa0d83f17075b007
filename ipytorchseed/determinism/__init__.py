"""Flags, alerts, and the scope in which equal input gives equal bits."""
