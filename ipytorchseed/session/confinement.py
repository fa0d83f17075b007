"""Decides whether a run may have changed variables that its code does not name.

It may do so through the values that it reads: lists, optimizers and iterators refer to other
objects; arrays, tables and strings do not. Or its code may set names that are not in its text.
Packages are not expected to change objects that they were given in earlier cells.
"""

from __future__ import annotations

from collections.abc import Collection
from types import FunctionType
from typing import Any

from ipytorchseed.fingerprint.native import Unseen, native
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.introspection.values import is_scalar
from ipytorchseed.reads.dependencies import Dependencies, is_result

# Kinds of values that share nothing except memory with other variables.
_PLAIN = frozenset({
    "None", "bool", "bytes", "complex", "date", "datetime", "decimal", "dtype", "float", "frame",
    "index", "int", "number", "path", "range", "series", "str", "time", "timedelta",
    "torch constant",
})  # fmt: skip

# Builtins through which code can reach variables that its text does not name.
_LEAD_ANYWHERE = frozenset({"__import__", "eval", "exec", "globals", "locals", "vars"})

# Prefixes of the names of dtypes whose elements are not objects.
_NUMBERS = ("int", "uint", "float", "complex", "bool", "<U", "|S", "datetime64", "timedelta64")


def is_confined(dependencies: Dependencies, patched: Collection[str]) -> bool:
    """Return whether a cell can reach other variables only through those it reads.

    Args:
        dependencies: The dependencies of its code.
        patched: Package attributes that earlier cells set; any code may call them.
    """
    return (
        dependencies.complete
        and not (dependencies.sets or patched)
        and dependencies.missing.isdisjoint(_LEAD_ANYWHERE)
        and not any(map(is_result, dependencies.names))
    )


def leads_nowhere(value: Any, look: Fingerprint) -> bool:  # noqa: ANN401 -- any value
    """Return whether code that gets only this value cannot change another variable.

    Args:
        value: The value.
        look: Its fingerprint.
    """
    if not look.exact or look.opaque or "unseen" in look.parts:
        return False
    if look.kind == "array":
        return look.parts.get("dtype", "").startswith(_NUMBERS)
    if look.kind == "tensor":  # a backward pass reaches other tensors through its graph
        with Unseen():  # so that no class or mode of the user runs
            return "content" in look.parts and not native().requires_grad(value)
    if type(value) is FunctionType:  # its code is followed; what it holds may lead anywhere
        kept = look.parts.keys() - {"code"}
        given = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return all(part[:2] == "d:" for part in kept) and all(map(is_scalar, given))
    return look.kind in _PLAIN
