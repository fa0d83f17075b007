"""Runs work on the engines of a cluster; the only folder that knows ipyparallel."""
