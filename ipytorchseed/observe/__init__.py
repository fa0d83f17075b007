"""Observes what a run reads while it runs, by ``sys.monitoring`` (Python 3.12 and later)."""
