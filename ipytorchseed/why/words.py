"""Words shared by findings and explanations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

_NAMED = 3
"""Files and hosts that are named."""


def listed(names: Iterable[str]) -> str:
    """Write names as a list, each once: ``a, b and c``."""
    *others, last = dict.fromkeys(names)
    return f"{', '.join(others)} and {last}" if others else last


def first_of(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Write the first few names as a list, and how many more there are: ``a, b and 3 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return between.join(names[:most]) + more


def many(count: int, one: str, more: str = "") -> str:
    """Write how many there are: ``1 run``, ``1,200 runs``, with ``more`` where an s is not all."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def say_effects(wrote: Sequence[str], connected: Sequence[str]) -> list[str]:
    """List in clauses what runs that are compared did outside the kernel.

    Args:
        wrote: Paths of the files that they wrote.
        connected: What they connected to.
    """
    clauses = []
    if wrote:
        names = first_of([PurePath(path).name for path in wrote], _NAMED)
        clauses.append(f"each run wrote {names}: files are not put back")
    if connected:
        names = first_of(connected, _NAMED)
        clauses.append(f"each run connected to {names}: what it sent cannot be taken back")
    return clauses


def sentence(clause: str) -> str:
    """Write a clause as a sentence; nothing for none.

    A name at its beginning (``torch.cpu came``, ``loss: made``) stays as the user wrote it.
    """
    word = clause.partition(" ")[0]
    begin = word.capitalize() if word.isalpha() and word.islower() else word
    return f"{begin}{clause[len(word) :]}." if clause else ""


_SOURCES = {
    "python": ("Python's `random`", "Python's random stream"),
    "numpy": ("numpy", "numpy's random stream"),
    "torch.cpu": ("torch", "torch's random stream"),
    "numba": ("numba", "numba's random stream"),
    "numba.python": ("numba's `random`", "the random stream of numba's `random`"),
}
"""What messages call the sources that users seed, and the streams that cells draw from."""


def owner_of(source: str) -> str:
    """Return what users seed: ``torch`` for ``torch.cpu``; a generator's name as code."""
    return _SOURCES[source][0] if source in _SOURCES else f"`{source}`"


def stream_of(source: str) -> str:
    """Return how messages call a source or generator: ``torch's random stream``."""
    library, _, device = source.partition(".")
    if source in _SOURCES:
        return _SOURCES[source][1]
    if library == "torch" and ":" in device:
        return f"torch's random stream on {device}"
    return f"`{source}`"
