"""Saves and restores values: contents of containers, attributes, JSON values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from ipytorchseed.determinism.flag import PLAIN

Undo = Callable[[], object]


def plain_values(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return settings as JSON values, and other values as text."""
    return {
        str(name): value if type(value) in PLAIN else str(value) for name, value in values.items()
    }


def read_attributes(names: Iterable[str], config: Any) -> dict[str, Any]:
    """Return attributes of an object as JSON values; missing ones are left out."""
    return plain_values({name: getattr(config, name) for name in names if hasattr(config, name)})


def keep_contents(held: list[Any] | dict[Any, Any]) -> Undo:
    """Return a function that restores the present items of a list or dictionary."""
    kept: Any = held.copy()

    def undo() -> None:
        if isinstance(held, list):
            held[:] = kept
        else:
            held.clear()
            held.update(kept)

    return undo


def keep_attributes(owner: Any, *names: str) -> Undo:
    """Return a function that restores the present attributes of an object.

    If a value is a list or dictionary, its items are restored too.
    """
    held = {name: getattr(owner, name) for name in names}
    contents = [keep_contents(each) for each in held.values() if isinstance(each, list | dict)]

    def undo() -> None:
        for name, each in held.items():
            if getattr(owner, name, None) is not each:
                setattr(owner, name, each)
        for restore in contents:
            restore()

    return undo


def write_each(write: Callable[[str, Any], object], values: Mapping[str, Any]) -> None:
    """Set values by name."""
    for name, value in values.items():
        write(name, value)


def value_of(text: Any) -> Any:
    """Return the value of a recorded text, or the text if it is not a literal."""
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(text) if type(text) is str else text
    return text
