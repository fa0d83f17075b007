"""The table of library calls that are not deterministic.

Their threads race, or they draw from streams that cannot be read. The rows are in
``library_calls.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """A row in the table of nondeterministic calls of libraries.

    Attributes:
        package: The package. Cells that do not use it are not searched for these calls.
        names: The names of the functions in the package: ``DataFrame.group_by``.
        kind: The kind of cause: ``operation`` if the result depends on the order of threads,
            ``entropy`` if it depends on random numbers that are not recorded.
        why: Why the calls are not deterministic, as the end of a sentence that starts with the
            call.
        fix: The remedy: an argument, or a command.
        source: The address of the library's documentation.
        lacks: Arguments. A call is deterministic if one of them is neither None nor False.
        workers: An argument with its default. A call is deterministic if the argument is 0, 1 or
            not an integer.
        has: Arguments with values. A call is deterministic unless it has these values.
        on: The classes that have the methods; empty for functions and classes.
        setter: The function that seeds the library's stream; empty if there is none.
        observed: Whether a call counts only if it was seen to ask the system for entropy.
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
    observed: bool = False

    def varies(self, given: Mapping[str, Any]) -> bool:
        """Return whether a call with these arguments is nondeterministic."""
        counts = [given.get(name, usual) for name, usual in self.workers.items()]
        return (
            all(given.get(name) is None or given[name] is False for name in self.lacks)
            and all(type(count) is int and count not in (0, 1) for count in counts)
            and all(given.get(name) == value for name, value in self.has.items())
        )


class Table(Struct, frozen=True):
    """The calls, and the packages that Python cannot observe.

    Attributes:
        calls: The rows, including those of plugins.
        native: The usual names of packages whose threads and streams Python cannot observe.
    """

    calls: list[Call]
    native: dict[str, str]


@cache
def known_calls() -> Table:
    """Return the table, which is read from its file at the first call."""
    text = Path(__file__).with_suffix(".toml").read_bytes()
    return msgspec.toml.decode(text, type=Table)
