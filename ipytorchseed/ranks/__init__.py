"""Compares the ranks of a training run: which diverged first, when, and why."""

from ipytorchseed.errors import RanksDiffer
from ipytorchseed.ranks.comparing import compare, read
from ipytorchseed.ranks.watching import watch

__all__ = ["RanksDiffer", "compare", "read", "watch"]
