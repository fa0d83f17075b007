"""Summarizes which variables a run read, and whether it may have read more."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from ipytorchseed.introspection.anatomy import module_of_class, name_of_class
from ipytorchseed.introspection.values import imported
from ipytorchseed.ledger.records import Observed
from ipytorchseed.observe.parts import Parts
from ipytorchseed.observe.uses import SHELL, Use, names_in, words_in
from ipytorchseed.observe.watch import Seen

# Names that give access to all variables.
_ALL = frozenset({"__builtins__", "__main__", "globals", "locals", "vars"})

# Magics that read no variables themselves. The code that they run is observed.
_SEEN_MAGICS = frozenset({
    "autoreload", "capture", "cd", "conda", "config", "deterministic", "load_ext", "matplotlib",
    "pip", "prun", "reload_ext", "replay", "rng", "seed", "time", "timeit", "why", "writefile",
})  # fmt: skip

# The characters before variables in the line of a magic.
_EXPANDED = frozenset("{$")

# Attributes that contain the function inside a decorated, compiled or bound function.
_WRAPPED = ("__wrapped__", "__func__", "func", "fget", "py_func", "_orig_mod")

_DEEPEST = 4

# The maximum number of functions to record in ``Observed.ran``.
_MOST_FUNCTIONS = 200


def observed(seen: Seen, namespace: Mapping[str, Any], wanted: Collection[str]) -> Observed:
    """Return a summary of the observations of a run.

    Args:
        seen: The record of the run.
        namespace: The notebook's variables after the run.
        wanted: The variables to include.
    """
    read: dict[str, tuple[str, ...]] = {}
    set_first = []
    of = Parts(seen, namespace)
    for name, uses in seen.uses.items():
        if not next(iter(uses)).is_read:
            set_first.append(name)
        else:
            parts = of.read(name)
            if parts:
                read[name] = () if "" in parts else tuple(sorted(parts))
    for name in _beside(seen, namespace, wanted):
        read[name] = ()
    ran = {code.co_qualname for code in seen.codes.values()} - {"<module>"}
    return Observed(
        read={name: parts for name, parts in read.items() if name in wanted},
        set_first=tuple(sorted({*set_first} & {*wanted} - read.keys())),
        ran=tuple(sorted(ran)[:_MOST_FUNCTIONS]),
        unseen=unseen(seen),
        drew={source: tuple(calls) for source, calls in seen.draws.found.items() if calls},
    )


def _beside(seen: Seen, namespace: Mapping[str, Any], wanted: Collection[str]) -> set[str]:
    """Return variables that may have been read without an instruction that loads them.

    These are names in strings such as queries, except code that a magic runs; classes whose methods
    ran; and variables in functions that were read but not observed to run. Such functions may have
    run in compiled form or in another process.
    """
    watched = {use.call.split("\n", 3)[-1] for use in seen.uses.get(SHELL, ()) if _is_seen(use)}
    words = set[str]().union(*(words_in(code, watched) for code in seen.codes.values()))
    ran = {code.co_qualname.partition(".")[0] for code in seen.codes.values()}
    scripted = [*_scripted()]
    names = set(map(name_of_class, scripted)).union(
        *(names_in(code) for kind in scripted for code in codes_of(kind, namespace))
    )
    found = {name for name in wanted if name in words | ran | names}
    todo = [*seen.uses, *names]
    done: set[str] = set()
    while todo:
        name = todo.pop()
        if name in done or name not in namespace:
            continue
        done.add(name)
        for code in codes_of(namespace[name], namespace):
            if id(code) not in seen.codes:
                reached = {each for each in names_in(code) if each in namespace}
                found |= reached
                todo += reached - done
    return found


def codes_of(value: object, namespace: Mapping[str, Any], deep: int = 0) -> Iterator[CodeType]:
    """Yield the notebook's code in a function or class, including wrapped functions."""
    inner: Iterable[object] = _wrapped_in(value)
    if isinstance(value, FunctionType) and value.__globals__ is namespace:
        yield value.__code__
    elif isinstance(value, type):
        own = value.__module__ == "__main__"
        inner = [*vars(value).values(), *value.__bases__] if own else []
    if deep < _DEEPEST:
        for each in inner:
            yield from codes_of(each, namespace, deep + 1)


def _wrapped_in(value: object) -> Iterator[object]:
    for name in _WRAPPED:
        with suppress(Exception):
            inner = object.__getattribute__(value, name)
            if inner is not value:
                yield inner


def _scripted() -> Iterator[type]:
    """Yield the notebook's classes that TorchScript has compiled."""
    modules = getattr(imported("torch.jit._recursive", "concrete_type_store"), "type_store", ())
    for kind in (*modules, *(imported("torch.jit._state", "_script_classes") or ())):
        if module_of_class(kind) == "__main__":
            yield kind


def unseen(seen: Seen) -> str:
    """Return why a run may have read more than was observed, or "" if it has not."""
    words = {*seen.uses}.union(*map(words_in, seen.codes.values()))
    reasons = (
        (seen.failed, "some of its code could not be watched"),
        (seen.forked or _has_children(), "other processes ran code"),
        (_is_compiled(), "torch.compile runs code that cannot be watched"),
        (not _ALL.isdisjoint(words), "it took all variables at once"),
        (not all(map(_is_seen, seen.uses.get(SHELL, ()))), "a command may read variables"),
    )
    return next((reason for holds, reason in reasons if holds), "")


def _has_children() -> bool:
    """Return whether this process has running children."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (ChildProcessError, AttributeError):
        return False
    return True


def _is_compiled() -> bool:
    """Return whether torch.compile has compiled code in this process."""
    codes = imported("torch._dynamo.convert_frame", "input_codes")
    return bool(getattr(codes, "seen", None))


def _is_seen(use: Use) -> bool:
    """Return whether a call of the shell reads variables only in observed code."""
    call, *words = use.call.split("\n")
    if call not in ("run_line_magic", "run_cell_magic") or not words:
        return False
    return words[0] in _SEEN_MAGICS and _EXPANDED.isdisjoint("".join(words[1:2]))
