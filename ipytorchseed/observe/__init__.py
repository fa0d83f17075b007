"""Records what a run reads, with ``sys.monitoring`` (from Python 3.12 on)."""
