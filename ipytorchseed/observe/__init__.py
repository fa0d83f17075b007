"""Observes what a run reads, by ``sys.monitoring`` (Python 3.12 and later)."""
