"""Many processes of one training: are they alike, which parted first, at which step, and why."""

from ipytorchseed.errors import RanksDiffer
from ipytorchseed.ranks.comparing import compare, read
from ipytorchseed.ranks.watching import watch

__all__ = ["RanksDiffer", "compare", "read", "watch"]
