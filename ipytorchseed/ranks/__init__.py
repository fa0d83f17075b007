"""Many processes of one training: are they alike, which parted first, at which step, and why."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ipytorchseed.errors import RanksDiffer

if TYPE_CHECKING:
    from ipytorchseed.ranks.comparing import compare as compare
    from ipytorchseed.ranks.reading import read as read
    from ipytorchseed.ranks.watching import watch as watch

_HOME = {"compare": "comparing", "read": "reading", "watch": "watching"}

__all__ = ["RanksDiffer", "compare", "read", "watch"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 -- a module attribute can be anything
    """Load a function from where it lives, once."""
    if name not in _HOME:
        msg = f"module 'ipytorchseed.ranks' has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"ipytorchseed.ranks.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
