"""Finds nondeterministic functions that a run could have called but did not."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from types import FunctionType
from typing import Any

from ipytorchseed.introspection.anatomy import module_of_class, own
from ipytorchseed.introspection.ownership import is_of_library
from ipytorchseed.introspection.values import is_class, module_of
from ipytorchseed.observe.observed import codes_of, unseen
from ipytorchseed.observe.uses import names_at, names_in
from ipytorchseed.observe.watch import Seen
from ipytorchseed.reads.entropy import CLOCKS, ENTROPY, PERSONS, STANDS, SYSTEM_RANDOM
from ipytorchseed.reads.resolution import public_name

_FUNCTIONS = CLOCKS.keys() | ENTROPY.keys() | PERSONS.keys() | STANDS.keys()

# Functions that can run code with variables other than the notebook's.
_BY_TEXT = frozenset({"compile", "eval", "exec", "runpy"})


def not_asked(seen: Seen, namespace: Mapping[str, Any], may: Collection[str]) -> set[str]:
    """Return the functions among ``may`` that the run certainly did not call.

    Only calls in the notebook's code are observed. If that code uses modules or classes that may
    contain such calls, the result is empty.

    Args:
        seen: The record of the run.
        namespace: The notebook's variables after the run.
        may: Nondeterministic functions that the code of the run may call.
    """
    may = {name for name in may if name in _FUNCTIONS and "." in name} - {SYSTEM_RANDOM}
    if not may or unseen(seen):
        return set()

    def elsewhere(method: object) -> bool:  # generated methods may call such functions
        return type(method) is FunctionType and method.__globals__ is not namespace

    words = set[str]()
    todo = [*seen.codes.values()]
    while todo:
        new = names_in(todo.pop()) - words
        words |= new
        for value in (namespace[name] for name in new if name in namespace):
            if module_of(value) not in ("", "__main__") and not is_of_library(module_of(value)):
                return set()
            kind: Any = value if is_class(value) else type(value)
            if module_of_class(kind) == "__main__" and any(map(elsewhere, own(kind).values())):
                return set()
            todo += [*codes_of(value, namespace), *codes_of(kind, namespace)]
    if words & _BY_TEXT or any(not is_of_library(word) for word in words & sys.modules.keys()):
        return set()
    codes = seen.codes.items()
    met = set[str]().union(*(names_at(code, seen.places.get(key, set())) for key, code in codes))
    met |= {public_name(namespace[name]) for name in seen.uses if name in namespace} | seen.called
    lasts = {name: name.rpartition(".")[2].partition("(")[0] for name in may}
    return {name for name in may if lasts[name] in words - met and name not in met}
