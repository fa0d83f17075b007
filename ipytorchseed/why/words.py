"""Phrases that findings and explanations share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from ipytorchseed.ledger.records import Outside

# The maximum number of files or hosts that a clause names.
_MAX_NAMED = 3


def listed(names: Iterable[str]) -> str:
    """Return names as a list, without duplicates: ``a, b and c``."""
    *others, last = dict.fromkeys(names)
    return f"{', '.join(others)} and {last}" if others else last


def first_of(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Return the first few names, and how many more there are: ``a, b and 3 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return between.join(names[:most]) + more


def many(count: int, one: str, more: str = "") -> str:
    """Return a count with its noun: ``1 run``, ``1,200 runs``.

    Args:
        count: The count.
        one: The singular.
        more: The plural, if it is irregular.
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def say_effects(outside: Outside) -> list[str]:
    """Return clauses about what the compared runs did outside the kernel."""
    clauses = []
    if outside.wrote:
        names = first_of([PurePath(path).name for path in outside.wrote], _MAX_NAMED)
        clauses.append(f"each run wrote {names}: files are not restored")
    if outside.connected:
        names = first_of(outside.connected, _MAX_NAMED)
        clauses.append(f"each run connected to {names}: what it sent cannot be taken back")
    return clauses


def sentence(clause: str) -> str:
    """Return a clause as a sentence, or "" for none.

    A dotted name at the start, as in ``torch.cpu moved on``, is not capitalized.
    """
    word = clause.partition(" ")[0]
    begin = word.capitalize() if word.isalpha() and word.islower() else word
    return f"{begin}{clause[len(word) :]}." if clause else ""


# For each source, the words in messages for what users seed, and for its random stream.
_SOURCES = {
    "python": ("Python's `random`", "Python's random stream"),
    "numpy": ("numpy", "numpy's random stream"),
    "torch.cpu": ("torch", "torch's random stream"),
    "keras": ("Keras", "Keras's random stream"),
    "numba": ("numba", "numba's random stream"),
    "numba.python": ("numba's `random`", "the random stream of numba's `random`"),
}


def owner_of(source: str) -> str:
    """Return the word for what users seed: ``torch`` for ``torch.cpu``."""
    return _SOURCES[source][0] if source in _SOURCES else f"`{source}`"


def stream_of(source: str) -> str:
    """Return the words for the stream of a source: ``torch's random stream``."""
    library, _, device = source.partition(".")
    if source in _SOURCES:
        return _SOURCES[source][1]
    if library == "torch" and ":" in device:
        return f"torch's random stream on {device}"
    return f"`{source}`"
