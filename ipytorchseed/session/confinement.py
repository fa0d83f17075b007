"""Whether a run can have changed variables that its code does not name.

Through the values that it reads: by a list, an optimizer or an iterator it comes to others. An
array, a table or a text leads to nothing, so that a change of it is all that there can be. Through
packages that hold what they were given before, as pyplot does its figures. Or by itself, where it
sets more than its text tells.
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

# Packages that keep no value of the user's from call to call, except ``_are_given`` any.
_HOLD_NOTHING = frozenset({
    "bisect", "calendar", "cmath", "collections", "copy", "datetime", "decimal", "fractions",
    "heapq", "itertools", "json", "math", "matplotlib", "mpl_toolkits", "numbers", "numpy",
    "operator", "pandas", "pathlib", "pprint", "random", "re", "scipy", "seaborn", "sklearn",
    "statistics", "string", "textwrap", "time", "torch", "torchvision", "typing", "warnings",
})  # fmt: skip

# Where torch keeps the functions that all modules call.
_HOOKS = tuple(
    f"_global_{what}_hooks"
    for what in ("backward", "backward_pre", "buffer_registration", "forward", "forward_pre",
                 "module_registration", "parameter_registration")
)  # fmt: skip

# Kinds of values that hold nothing which another variable could hold as well, but memory.
_PLAIN = frozenset({
    "None", "bool", "bytes", "complex", "date", "datetime", "decimal", "dtype", "float", "frame",
    "index", "int", "number", "path", "range", "series", "str", "time", "timedelta",
    "torch constant",
})  # fmt: skip

# Builtins by which code comes to variables that its text does not name.
_LEAD_ANYWHERE = frozenset({"__import__", "eval", "exec", "globals", "locals", "vars"})

# With what the names of dtypes begin whose elements are no objects.
_NUMBERS = ("int", "uint", "float", "complex", "bool", "<U", "|S", "datetime64", "timedelta64")


def is_confined(dependencies: Dependencies, patched: Collection[str]) -> bool:
    """Return whether a cell reaches other variables only through those it reads.

    Args:
        dependencies: What following its code told.
        patched: Attributes of packages that earlier cells set: they may be called from anywhere.
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
    """Return whether packages hold open figures or callbacks, which any run may use."""
    figures = imported("matplotlib._pylab_helpers", "Gcf")
    callback = imported("numpy", "geterrcall")
    of_torch = module_names(sys.modules.get("torch.nn.modules.module"))
    return bool(
        (figures is not None and own(figures).get("figs"))
        or (callback is not None and callback() is not None)
        or any(map(of_torch.get, _HOOKS))
    )


def leads_nowhere(value: Any, look: Fingerprint) -> bool:  # noqa: ANN401 -- whatever it is
    """Return whether no other variable can be changed through a value unseen.

    Args:
        value: The value.
        look: What it was found to be.
    """
    if not look.exact or look.opaque or "unseen" in look.parts:
        return False
    if look.kind == "array":
        return look.parts.get("dtype", "").startswith(_NUMBERS)
    if look.kind == "tensor":  # by its graph, a backward pass comes to others
        with Unseen():  # a class or a mode of the user's may answer
            return "content" in look.parts and not native().requires_grad(value)
    if type(value) is FunctionType:  # its code is followed; what it keeps may lead anywhere
        kept = look.parts.keys() - {"code"}
        given = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return all(part[:2] == "d:" for part in kept) and all(map(is_scalar, given))
    return look.kind in _PLAIN
