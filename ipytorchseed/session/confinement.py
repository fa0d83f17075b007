"""Decides whether a run may have changed variables that its code does not name.

It may have changed them through the values that it reads: lists, optimizers and iterators refer to
other objects, but arrays, tables and strings do not. Or its code may set names that are not in its
text. It is assumed that packages do not change objects that earlier cells passed to them.
"""

from __future__ import annotations

from collections.abc import Collection
from types import FunctionType
from typing import Any

from ipytorchseed.fingerprint.native import Unseen, native
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.introspection.values import is_scalar
from ipytorchseed.reads.dependencies import Dependencies, is_result

# Kinds of values that do not refer to other variables' objects, except by sharing memory.
_PLAIN = frozenset({
    "None", "bool", "bytes", "complex", "date", "datetime", "decimal", "dtype", "float", "frame",
    "index", "int", "number", "path", "range", "series", "str", "time", "timedelta",
    "torch constant",
})  # fmt: skip

# Builtins with which code can access variables that its text does not name.
_LEAD_ANYWHERE = frozenset({"__import__", "eval", "exec", "globals", "locals", "vars"})

# Prefixes of the names of dtypes whose elements are not objects.
_NUMBERS = ("int", "uint", "float", "complex", "bool", "<U", "|S", "datetime64", "timedelta64")


def is_confined(dependencies: Dependencies, patched: Collection[str]) -> bool:
    """Return whether a cell can change other variables only through values it reads.

    Args:
        dependencies: The dependencies of the cell.
        patched: Attributes of packages that earlier cells set. Any code may call them.
    """
    return (
        dependencies.complete
        and not (dependencies.sets or patched)
        and dependencies.missing.isdisjoint(_LEAD_ANYWHERE)
        and not any(map(is_result, dependencies.names))
    )


def leads_nowhere(value: Any, look: Fingerprint) -> bool:  # noqa: ANN401 -- any value
    """Return whether other variables cannot be changed through a value.

    Args:
        value: The value.
        look: The fingerprint of the value.
    """
    if not look.exact or look.opaque or "unseen" in look.parts:
        return False
    if look.kind == "array":
        return look.parts.get("dtype", "").startswith(_NUMBERS)
    if look.kind == "tensor":  # a backward pass reaches other tensors through its graph
        with Unseen():  # so that no user code runs
            return "content" in look.parts and not native().requires_grad(value)
    if type(value) is FunctionType:  # its code is followed, but not its defaults and closure
        kept = look.parts.keys() - {"code"}
        given = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return all(part[:2] == "d:" for part in kept) and all(map(is_scalar, given))
    return look.kind in _PLAIN
