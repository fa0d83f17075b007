"""Calls of libraries that do not repeat: racing threads, unreadable streams.

The rows are in ``library_calls.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """A row: calls of a library that do not repeat.

    Attributes:
        package: The package; a cell that does not use it is not asked.
        names: What is called, as one writes it behind the package: ``DataFrame.group_by``.
        kind: Of the cause: ``operation`` if the order of threads decides, ``entropy`` if numbers do
            that no recorded source gives.
        why: Why they do not repeat, behind the call in a sentence.
        fix: What makes them repeat: an argument, or a command.
        source: Where the library says so.
        lacks: They repeat if one of these arguments is given.
        workers: They repeat if this argument is 1; with its default.
        has: They repeat unless these arguments have these values.
        on: Of methods, the classes that have them; empty for functions and classes.
        setter: The function that seeds the library's stream; empty if there is none.
    """

    package: str
    names: tuple[str, ...]
    kind: Literal["operation", "entropy"]
    why: str
    fix: str
    source: str
    lacks: tuple[str, ...] = ()
    workers: Mapping[str, int] = {}
    has: Mapping[str, Any] = {}
    on: tuple[str, ...] = ()
    setter: str = ""

    def varies(self, given: Mapping[str, Any]) -> bool:
        """Return whether a call does not repeat with these arguments."""
        counts = [given.get(name, usual) for name, usual in self.workers.items()]
        return (
            all(given.get(name) is None or given[name] is False for name in self.lacks)
            and all(type(count) is int and count not in (0, 1) for count in counts)
            and all(given.get(name) == value for name, value in self.has.items())
        )


class Table(Struct, frozen=True):
    """What we know about libraries.

    Attributes:
        calls: The rows, also those that libraries bring.
        native: What people call packages whose threads and streams Python does not see.
    """

    calls: list[Call]
    native: dict[str, str]


@cache
def known_calls() -> Table:
    """Return the table, read once, when it is first asked for."""
    text = Path(__file__).with_suffix(".toml").read_bytes()
    return msgspec.toml.decode(text, type=Table)
