"""The parts that run inside IPython: events, the input transformer and magics."""
