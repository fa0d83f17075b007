"""Describes operations by their schemas: arguments read and written, and draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any

from msgspec import Struct

# Operations that overwrite their first argument without reading it.
_OVERWRITES = frozenset({
    "copy_", "fill_", "zero_", "uniform_", "normal_", "bernoulli_", "exponential_", "random_",
    "cauchy_", "geometric_", "log_normal_",
})  # fmt: skip

# Operations that return uninitialized memory.
_UNWRITTEN = frozenset({
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
    "_empty_affine_quantized", "resize_", "resize",
})  # fmt: skip


def is_unwritten(name: str) -> bool:
    """Return whether an operation returns uninitialized memory."""
    return name.rpartition("::")[2] in _UNWRITTEN


class Overload(Struct, frozen=True):
    """An overload of one of torch's operations.

    Attributes:
        name: The operation's name in torch, ``aten::index_put_``.
        silent: Whether it computes no values: it returns a view or uninitialized memory.
        unwritten: Whether it returns uninitialized memory.
        draws: Whether it draws random numbers.
        arguments: The names of its arguments, in order.
        written: The arguments that it writes.
        unread: The arguments that it writes without reading them.
        returns: Whether it returns anything other than its arguments.
    """

    name: str
    silent: bool = True
    unwritten: bool = False
    draws: bool = False
    arguments: tuple[str, ...] = ()
    written: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    returns: bool = False

    def inputs(self, args: tuple[Any, ...], given: Mapping[str, Any]) -> Iterable[Any]:
        """Return the arguments that a call reads."""
        if not self.unread:
            return (*args, *given.values()) if given else args
        return [each for name, each in self._named(args, given) if name not in self.unread]

    def changes(self, args: tuple[Any, ...], given: Mapping[str, Any]) -> list[Any]:
        """Return the arguments that a call writes."""
        if not self.written:
            return []
        return [each for name, each in self._named(args, given) if name in self.written]

    def _named(self, args: tuple[Any, ...], given: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
        return chain(zip(self.arguments, args, strict=False), given.items())


@cache
def describe(func: Any) -> Overload:  # an OpOverload, or a similar object
    """Return the description of an overload, from its schema."""
    import torch

    schema = getattr(func, "_schema", None)
    if schema is None:  # a higher-order operator, which calls other operations
        return Overload(str(getattr(func, "name", lambda: func)()))
    name = schema.name
    short = name.rpartition("::")[2]
    changed = [it for it in schema.arguments if it.alias_info and it.alias_info.is_write]
    unread = [each for each in changed if each.kwarg_only or short in _OVERWRITES]
    aliased = [each.alias_info for each in schema.returns]
    view = not changed and bool(aliased) and all(alias is not None for alias in aliased)
    return Overload(
        name=name,
        silent=view or name.startswith("profiler::") or is_unwritten(name),
        unwritten=is_unwritten(name),
        draws=torch.Tag.nondeterministic_seeded in func.tags,
        arguments=tuple(each.name for each in schema.arguments),
        written=frozenset(each.name for each in changed),
        unread=frozenset(each.name for each in unread),
        returns=any(alias is None for alias in aliased),
    )
