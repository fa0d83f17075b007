"""Recognizes lines with our own magics. Their output is not a result of the cell."""

from __future__ import annotations

from ipytorchseed.patterns import lazy_pattern

# The key in an output's metadata that marks it as ours, not the cell's.
MARK = "ipytorchseed"

# Matches the beginnings of comments and of lines with our magics.
_COMMANDS = lazy_pattern(r"%(?:why|rng|seed|deterministic|replay|check)(?![\w%])|#")

# Matches line magics of ours that change nothing, without the percent sign.
_LOOKS = lazy_pattern(r"(?:why|rng|replay|check)(?!\w)|seed\s+log(?!\w)")


def is_inspection(source: str) -> bool:
    """Return whether a cell contains only our magics, such as ``%why``, and comments."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return all(map(_COMMANDS.match, lines))


def is_inspection_magic(name: str, line: str) -> bool:
    """Return whether one of our line magics changes nothing.

    Its output is not a result of the cell.

    Args:
        name: The name of the magic, without the percent sign.
        line: The rest of the line.
    """
    return _LOOKS.match(f"{name} {line.lstrip()}") is not None
