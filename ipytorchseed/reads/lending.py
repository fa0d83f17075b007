"""What becomes of an object that code gives to a function before it reads it."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.reads.code import effects_of_code
from ipytorchseed.reads.overwrites import UNREAD, WHOLE, Lent

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ipytorchseed.reads.effects import Effects
    from ipytorchseed.reads.home import Home

_RUNS_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Flags of functions whose code does not run where they are called."""

_DEEPEST = 8
"""Functions that hand an object on to each other."""


class Overwritten:
    """Collects the names whose content all code that reads them sets anew first."""

    def __init__(self) -> None:
        self._read: set[str] = set()
        self._not_whole: set[str] = set()
        self._as_left: set[str] = set()

    def look_up(self, effects: Effects, home: Home) -> None:
        """Note which names some code sets anew before it reads them.

        Args:
            effects: What the code does with names.
            home: Where these are found.
        """
        for name in effects.reads:
            how = _how_set_anew(effects.anew.get(name), effects.writes, home.names)
            if how != UNREAD:
                shown = home.shown(name)
                self._read.add(shown)
                self._not_whole |= set() if how == WHOLE else {shown}
                self._as_left |= {shown} if how is None else set()

    @property
    def whole(self) -> set[str]:
        """As ``Dependencies.overwritten``."""
        return self._read - self._not_whole

    @property
    def layers(self) -> set[str]:
        """As ``Dependencies.initialised``."""
        return self._read - self._as_left


def _how_set_anew(
    how: str | Lent | None, writes: Collection[str], names: Mapping[str, Any]
) -> str | None:
    """Tell how the content of an object is set anew before it is read.

    Args:
        how: What ``overwrites.find_overwrites`` told of it.
        writes: Names that the code sets itself, which may hold other functions then.
        names: What the code's global names hold.

    Returns:
        ``overwrites.WHOLE`` or ``overwrites.LAYERS``; None where it is not, for all one knows.
    """
    for _ in range(_DEEPEST):
        if not isinstance(how, Lent):
            return how
        root, *rest = how.function.split(".")
        function = None if root in writes else names.get(root)
        for name in rest:
            inside = introspection.is_module(function)
            function = introspection.module_names(function).get(name) if inside else None
        if type(function) is not FunctionType or not is_local_module(
            introspection.module_of(function)
        ):
            return None
        code, argument = function.__code__, how.argument
        if code.co_flags & _RUNS_LATER:
            return None
        given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if isinstance(argument, int):
            argument = next(iter(given[: code.co_argcount][argument:]), "")
        effects = effects_of_code(code)
        how = effects.anew.get(argument) if argument in given else None
        writes, names = effects.writes, function.__globals__
    return None
