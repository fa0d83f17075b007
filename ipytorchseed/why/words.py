"""Words that several findings share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def listed(names: Iterable[str]) -> str:
    """Write names as a list, each once: ``a, b and c``."""
    *others, last = dict.fromkeys(names)
    return f"{', '.join(others)} and {last}" if others else last
