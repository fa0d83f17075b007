"""How single values are written."""

from __future__ import annotations

from ipytorchseed.determinism.flag import Unreadable
from ipytorchseed.render.text import visible

SHORT = 8
"""Hex digits of a digest that are shown to people."""


def write_value(value: object) -> str:
    """Write the value of a flag for a person: ``torch.float32`` is ``float32``."""
    if isinstance(value, Unreadable):
        return "?"
    if value is None:
        return "not set"
    if isinstance(value, tuple):
        return ", ".join(write_value(item) for item in value)
    return visible(value if isinstance(value, str) else str(value).removeprefix("torch."))


def short_digest(digest: str | None) -> str:
    """Shorten a digest for a person."""
    return digest[:SHORT] if digest else "unknown"


def hue(digest: str) -> int:
    """Return the colour of a digest's chip, in degrees: equal states, equal colours.

    It is made of other digits than the chip's code shows, so that two states which share the code
    hardly ever share both.
    """
    return int(digest[4:8], 16) % 360
