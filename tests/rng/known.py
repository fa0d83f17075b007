"""The sources of this process by their names."""

from __future__ import annotations

from ipytorchseed.rng import table
from ipytorchseed.rng.table import sources


def find_source(name):
    """Return the source of that name."""
    return {source.name: source for source in sources()}[name]


def forget_source(name):
    """Remove a source that a test registered."""
    table._registered.pop(name)
    table.holders.clear()
