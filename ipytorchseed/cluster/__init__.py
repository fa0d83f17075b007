"""Distributes work over the engines of a cluster; the only folder that knows ipyparallel."""
