"""Finds the parts of a variable that a run read, directly or in functions."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FunctionType
from typing import Any, TypeGuard

from ipytorchseed.introspection.anatomy import dictionary_of, find_member, module_of_class
from ipytorchseed.introspection.values import is_class, is_function, is_module, is_scalar
from ipytorchseed.observe.uses import Use, find_uses
from ipytorchseed.observe.watch import Seen, sets_globally

# Flags of functions whose code runs after the call has returned.
_LATER = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR

# Functions that look up local variables by name.
_BY_TEXT = frozenset({"eval", "exec", "query"})


class Parts:
    """The parts of variables that a run read.

    Args:
        seen: The record of the run.
        namespace: The notebook's variables after the run.
    """

    def __init__(self, seen: Seen, namespace: Mapping[str, Any]) -> None:
        self._seen = seen
        self._namespace = namespace
        self._are_given = any(code.co_argcount for code in seen.codes.values())
        self._close: dict[int, list[Use]] = {}

    def read(self, name: str) -> set[str]:
        """Return the parts of a variable that were read, such as ``.lr`` or ``['rate']``.

        An empty string means the whole variable. If the variable is passed to a notebook function,
        the parts that the function reads of its parameter are included. If a property or method of
        it runs, the parts of ``self`` are included.
        """
        uses, value = self._seen.uses[name], self._namespace.get(name)
        parts = {use.part for use in uses if use.is_read}
        is_set = not all(use.is_read for use in uses)
        is_simple = any(told(value) for told in (is_scalar, is_function, is_module, is_class))
        is_own = module_of_class(type(value)) == "__main__"
        if is_simple or not self._are_given or not ("" in parts or is_own):
            return parts
        todo, done = self._uses(name), set[tuple[int, str]]()
        parts.clear()
        while todo and "" not in parts:
            use = todo.pop()
            serving = None if is_set else _serving(use, value)
            function = self._called(use) if use.to else serving
            parameter = self._parameter(function, use.at)
            if parameter is None:
                parts.add("" if self._is_users(function) else use.part)
            elif parameter not in done:
                done.add(parameter)
                code = self._seen.codes[parameter[0]]
                todo += (
                    use for use in self._look(code) if use.is_local and use.name == parameter[1]
                )
        return parts

    def _uses(self, name: str) -> list[Use]:
        """Return the observed uses of a variable."""
        codes = [code for code in self._seen.codes.values() if name in code.co_names]
        found = (use for code in codes for use in self._look(code))
        return [use for use in found if use.name == name and not use.is_local]

    def _look(self, code: CodeType) -> list[Use]:
        """Return the observed uses in code; see ``find_uses(..., closely=True)``."""
        key = id(code)
        if key not in self._close:
            is_of_class = not sets_globally(code) and code.co_name != "<module>"
            uses = find_uses(code, sets=not is_of_class, closely=True)
            places = self._seen.places.get(key, ())
            found = {use: None for place in places for use in uses.get(place, ())}
            self._close[key] = [*found]
        return self._close[key]

    def _called(self, use: Use) -> object:
        """Return the called function, if its name was not set again during the run."""
        sets = [each for each in self._uses(use.to) if not each.is_read]
        is_one = not sets or (len(sets) == 1 and sets[0].defined)
        return self._namespace.get(use.to) if is_one else None

    def _is_users(self, function: object) -> TypeGuard[FunctionType]:
        return type(function) is FunctionType and function.__globals__ is self._namespace

    def _parameter(self, function: object, at: int | str) -> tuple[int, str] | None:
        """Return the parameter that receives an argument: its code's ``id``, and its name.

        Return None if the reads of the parameter are not known completely.
        """
        if not self._is_users(function):
            return None
        code = function.__code__
        if isinstance(at, str):
            count = code.co_argcount + code.co_kwonlyargcount
            name = at if at in code.co_varnames[code.co_posonlyargcount : count] else ""
        else:
            name = next(iter(code.co_varnames[: code.co_argcount][at:]), "")
        is_plain = name not in code.co_cellvars and _BY_TEXT.isdisjoint(code.co_names)
        is_seen = id(code) in self._seen.codes and not code.co_flags & _LATER
        return (id(code), name) if name and is_plain and is_seen else None


def _serving(use: Use, value: object) -> object:
    """Return the class's function that implements the attribute, item or method used."""
    kind = type(value)
    if use.part[:1] == "[":
        return find_member(kind, "__getitem__")
    getter = find_member(kind, "__getattribute__")
    method = use.call.partition("\n")[0]
    if type(getter) is FunctionType or not (use.part or method):
        return getter
    member = find_member(kind, method or use.part[1:])
    if not method:
        return member.fget if type(member) is property else None
    return member if method not in dictionary_of(value) else None
