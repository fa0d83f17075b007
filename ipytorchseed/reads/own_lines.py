"""Lines that only ask or command us: what they display is no result of a cell."""

from __future__ import annotations

from ipytorchseed.patterns import lazy_pattern

# The key in an output's metadata that marks it as ours, not the cell's.
MARK = "ipytorchseed"

# The beginnings of comments and of our magics.
_COMMANDS = lazy_pattern(r"%(?:why|rng|seed|deterministic|replay|check)(?![\w%])|#")

# Our line magics that change nothing, without the percent sign.
_LOOKS = lazy_pattern(r"(?:why|rng|replay|check)(?!\w)|seed\s+log(?!\w)")


def is_inspection(source: str) -> bool:
    """Return whether a cell only runs our magics, such as ``%why`` and ``%seed``."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return all(map(_COMMANDS.match, lines))


def is_inspection_magic(name: str, line: str) -> bool:
    """Return whether one of our line magics changes nothing.

    Its output is not a result of the cell.

    Args:
        name: The magic, without the percent sign.
        line: What follows its name.
    """
    return _LOOKS.match(f"{name} {line.lstrip()}") is not None
