"""The schema of an operation: what it reads and writes, whether it draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
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


class Overload(Struct, frozen=True):
    """An overload of one of torch's operations.

    Attributes:
        name: torch's name, ``aten::index_put_``.
        view: Whether it returns a view of an argument.
        unwritten: Whether it returns uninitialized memory.
        draws: Whether it draws random numbers.
        unread: Places of arguments that it writes without reading.
        written: Places of arguments that it writes.
        outs: Names of arguments that it writes without reading.
        written_names: Names of further arguments that it writes.
        returns: Whether it returns anything other than its arguments.
    """

    name: str
    view: bool
    unwritten: bool
    draws: bool
    unread: frozenset[int]
    written: tuple[int, ...]
    outs: frozenset[str]
    written_names: tuple[str, ...]
    returns: bool

    @property
    def silent(self) -> bool:
        """Whether it computes no values."""
        return self.view or self.unwritten

    def inputs(self, args: tuple[Any, ...], given: Mapping[str, Any]) -> Sequence[Any]:
        """Return the arguments that a call reads."""
        read = [each for at, each in enumerate(args) if at not in self.unread]
        return read + [each for name, each in given.items() if name not in self.outs]

    def changes(self, args: tuple[Any, ...], given: Mapping[str, Any]) -> list[Any]:
        """Return the arguments that a call writes."""
        found = [args[place] for place in self.written if place < len(args)]
        return found + [given[name] for name in self.written_names if name in given]


def named(name: str) -> Overload:
    """Return an overload with only a name."""
    return Overload(name, True, False, False, frozenset(), (), frozenset(), (), False)  # noqa: FBT003


@cache
def describe(func: Any) -> Overload:  # an OpOverload, or a similar object
    """Read an overload's schema."""
    import torch

    schema = getattr(func, "_schema", None)
    if schema is None:  # a higher-order operator, which calls others
        name = str(getattr(func, "name", lambda: func)())
        return named(name)
    name = schema.name
    short = name.rpartition("::")[2]
    written = [
        (place, argument)
        for place, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    outs = frozenset(each.name for _, each in written if each.kwarg_only)
    aliased = [each.alias_info for each in schema.returns]
    view = not written and bool(aliased) and all(alias is not None for alias in aliased)
    unread = {place for place, each in written if place == 0 and short in _OVERWRITES}
    return Overload(
        name=name,
        view=view or name.startswith("profiler::"),
        unwritten=short in _UNWRITTEN,
        draws=torch.Tag.nondeterministic_seeded in func.tags,
        unread=frozenset(unread),
        written=tuple(place for place, each in written if not each.kwarg_only),
        outs=outs,
        written_names=tuple(each.name for _, each in written),
        returns=any(alias is None for alias in aliased),
    )
