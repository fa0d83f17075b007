"""Decides whether a run may have changed variables that its code does not name.

It may do so through the values that it reads: lists, optimizers and iterators refer to other
objects; arrays, tables and strings do not. It may do so through packages that keep what they were
given, as pyplot keeps its figures. Or its code may set names that are not in its text.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from types import FunctionType
from typing import Any

from ipytorchseed.fingerprint.native import Unseen, native
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.introspection.anatomy import own
from ipytorchseed.introspection.values import imported, is_scalar, module_names
from ipytorchseed.reads.dependencies import Dependencies, is_result

# Packages that keep no user values between calls, except those that ``_are_given`` checks.
_HOLD_NOTHING = frozenset({
    "bisect", "calendar", "cmath", "collections", "copy", "datetime", "decimal", "fractions",
    "heapq", "itertools", "json", "math", "matplotlib", "mpl_toolkits", "numbers", "numpy",
    "operator", "pandas", "pathlib", "pprint", "random", "re", "scipy", "seaborn", "sklearn",
    "statistics", "string", "textwrap", "time", "torch", "torchvision", "typing", "warnings",
})  # fmt: skip

# Where torch keeps the global hooks, which all modules call.
_HOOKS = tuple(
    f"_global_{what}_hooks"
    for what in ("backward", "backward_pre", "buffer_registration", "forward", "forward_pre",
                 "module_registration", "parameter_registration")
)  # fmt: skip

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
        and dependencies.packages <= _HOLD_NOTHING
        and not any(map(is_result, dependencies.names))
        and not _are_given()
    )


def _are_given() -> bool:
    """Return whether packages have open figures or callbacks, which any run may use."""
    figures = imported("matplotlib._pylab_helpers", "Gcf")
    callback = imported("numpy", "geterrcall")
    of_torch = module_names(sys.modules.get("torch.nn.modules.module"))
    return bool(
        (figures is not None and own(figures).get("figs"))
        or (callback is not None and callback() is not None)
        or any(map(of_torch.get, _HOOKS))
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
