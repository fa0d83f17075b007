"""Observes what a run reads, with ``sys.monitoring`` (Python 3.12 and later)."""
