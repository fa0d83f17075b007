"""What happens to an object that code passes to a function before it reads it."""

from __future__ import annotations

import builtins
import inspect
import itertools
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from ipytorchseed.introspection import values as introspection
from ipytorchseed.introspection.anatomy import anatomy, module_of_class, mro
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.reads.code import effects_of_code
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.home import Home
from ipytorchseed.reads.methods import may_run, method_of
from ipytorchseed.reads.overwrites import UNREAD, WHOLE, Lent
from ipytorchseed.reads.parts import columns_held
from ipytorchseed.reads.renewals import EVERY, FITS, FITTED, Renewal, overlap
from ipytorchseed.reads.uses import argument_read

_RUNS_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Flags of functions whose code does not run where they are called."""

_SET_ALL_OF_OUT = frozenset({"numpy", "torch"})
"""Packages whose functions set all numbers of the ``out`` that they are given.

https://numpy.org/doc/stable/reference/ufuncs.html
"""

_MOST_FITTED = 100
"""Estimators that one loop fits, of which each is looked at."""

_DEEPEST = 8
"""Functions that hand an object on to each other."""


class Overwritten:
    """Collects names whose content, or parts of it, all code that reads them sets anew first."""

    def __init__(self) -> None:
        self._read: set[str] = set()
        self._not_whole: set[str] = set()
        self._as_left: set[str] = set()
        self._renewed: dict[str, set[str]] = {}
        self._first: set[str] = set()

    def look_up(self, effects: Effects, home: Home) -> None:
        """Note which names some code sets anew before it reads them.

        Args:
            effects: What the code does with names.
            home: Where these are found.
        """
        for name in effects.reads:
            shown = home.shown(name)
            if shown in self._first:
                continue
            parts = _find_renewed(name, effects.renewed, effects.writes, home.names)
            self._renewed[shown] = self._renewed.get(shown, parts) & parts
            how = _how_set_anew(effects.anew.get(name), effects.writes, home.names)
            if how != UNREAD:
                self._read.add(shown)
                self._not_whole |= set() if how == WHOLE else {shown}
                self._as_left |= {shown} if how is None else set()
            if how == WHOLE and _is_first(name, effects, home):
                self._first.add(shown)

    @property
    def whole(self) -> set[str]:
        """As ``Dependencies.overwritten``."""
        return self._read - self._not_whole

    @property
    def layers(self) -> set[str]:
        """As ``Dependencies.initialised``."""
        return self._read - self._as_left

    @property
    def parts(self) -> set[str]:
        """Parts of objects that are set anew: ``meter.total``."""
        return {f"{name}.{part}" for name, parts in self._renewed.items() for part in parts}


def _is_first(name: str, effects: Effects, home: Home) -> bool:
    """Tell whether no code of the user's runs before a cell sets a name anew, but its own text.

    Functions that read the name then run later.

    Args:
        name: The name, whose own methods may set it.
        effects: What the cell does.
        home: Where names are found.
    """
    called = effects.before.get(name)
    if called is None:
        return False
    roots = {each.partition(".")[0] for each in called} - {name}
    known = [home.names[root] for root in roots if root in home.names]
    builtin = vars(builtins).keys() - home.names.keys()
    return (
        len(known) == len(roots - builtin)
        and roots.isdisjoint(effects.writes)
        and not any(
            type(each) is partial or is_local_module(introspection.module_of(each))
            for each in known
        )
    )


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
        if how.argument == "out" and introspection.is_module(function):
            package = introspection.module_of(function).partition(".")[0]
            return WHOLE if package in _SET_ALL_OF_OUT else None
        for name in rest:
            inside = introspection.is_module(function)
            function = introspection.module_names(function).get(name) if inside else None
        user = _runs_at_once(function)
        if user is None:
            return None
        effects = effects_of_code(user.__code__)
        how = effects.anew.get(_name_of(user.__code__, how.argument))
        writes, names = effects.writes, user.__globals__
    return None


def _find_renewed(
    name: str, renewed: Mapping[str, Renewal], writes: Collection[str], names: Mapping[str, Any]
) -> set[str]:
    """Find the parts of an object that code sets anew before it reads them.

    Args:
        name: The object's name there.
        renewed: What ``renewals.find_renewals`` told of that code.
        writes: Names that the code sets itself, which may hold other functions then.
        names: What the code's global names hold.
    """
    value, found, read = names.get(name), set[str](), set[str]()
    for _ in range(_DEEPEST):
        how = renewed.get(name)
        if how is None:
            break
        of_rows = [argument_read(names.get(each), 0) for each in how.rows]
        if None in of_rows or not how.rows.isdisjoint(writes):
            break
        read = read.union(*filter(None, of_rows))
        columns = {key: None if key in writes else columns_held(names.get(key)) for key in how.keys}
        found |= {part for part in how.parts if _is_set_first(part, how, columns, read)}
        if None in columns.values():
            break
        read |= how.reads.union(map(_part, itertools.chain(*filter(None, columns.values()))))
        fits = how.lent is not None and (
            _fits(how.lent, value, name) or (not how.again and _copies_unfitted(how.lent, names))
        )
        found |= {FITTED} if fits else set()
        found |= {EVERY} if how.lent is not None and _resets(how.lent, value, name) else set()
        function = _function_of(how.lent, value, name, writes, names)
        if how.lent is None or function is None:
            break
        name = _name_of(function.__code__, how.lent.argument or 0)
        effects = effects_of_code(function.__code__)
        renewed, writes, names = effects.renewed, effects.writes, function.__globals__
    heads = {each.partition(".")[0] for each in read}
    return set() if any(may_run(value, each) for each in heads) else found


def _part(column: str) -> str:
    return f"[{column}]"


def _is_set_first(
    part: str, how: Renewal, columns: Mapping[str, list[str] | None], read: Collection[str]
) -> bool:
    """Tell whether a part is set before it is read, also by the lists of columns before it."""
    before = [columns[key] for key in how.after[part]]
    listed = map(_part, itertools.chain(*filter(None, before)))
    return None not in before and not any(overlap(part, each) for each in (*read, *listed))


def _fits(lent: Lent, value: object, name: str) -> bool:
    """Tell whether an estimator of scikit-learn is fitted from the start.

    https://scikit-learn.org/stable/developers/develop.html#fitting
    """
    owner, _, method = lent.function.rpartition(".")
    if owner not in (name, f"{name}[]") or method not in FITS:
        return False
    fitted = [value] if owner == name else [*_estimators_in(value)]
    return bool(fitted) and all(
        module_of_class(type(each)).startswith("sklearn.")
        and (anatomy(type(each)).dictionary(each) or {}).get("warm_start") is not True
        for each in fitted
    )


def _estimators_in(value: Any) -> Iterator[object]:  # noqa: ANN401
    """List the items of a list or dictionary, without the names that some are paired with."""
    held = [*value.values()] if type(value) is dict else value
    if type(value) in (dict, list, tuple) and len(held) <= _MOST_FITTED:
        for each in held:
            yield from each[-1:] if type(each) is tuple else [each]


def _resets(lent: Lent, value: object, name: str) -> bool:
    """Tell whether a metric of torchmetrics is put back to where it began.

    https://lightning.ai/docs/torchmetrics/stable/pages/implement.html
    """
    ours = any(module_of_class(each).startswith("torchmetrics.metric") for each in mro(type(value)))
    return lent.function == f"{name}.reset" and ours


_COPIES = frozenset({
    "GridSearchCV", "RandomizedSearchCV", "clone", "cross_val_predict", "cross_val_score",
    "cross_validate", "learning_curve", "permutation_test_score", "validation_curve",
})  # fmt: skip
"""What of scikit-learn copies the parameters of an estimator that it is given, and fits the copy.

https://scikit-learn.org/stable/modules/generated/sklearn.base.clone.html
"""


def _copies_unfitted(lent: Lent, names: Mapping[str, Any]) -> bool:
    """Tell whether a function makes nothing of how an estimator was fitted."""
    function = names.get(lent.function)
    ours = lent.function in _COPIES and lent.argument in (0, "estimator")
    return ours and introspection.module_of(function).startswith("sklearn.")


def _function_of(
    lent: Lent | None, value: object, name: str, writes: Collection[str], names: Mapping[str, Any]
) -> FunctionType | None:
    """Return the function that is given an object, or its method that is called."""
    owner, _, method = lent.function.rpartition(".") if lent is not None else ("", "", "")
    if lent is None or (lent.argument == "") != (owner == name):
        return None
    if owner == name:
        return _runs_at_once(method_of(value, method))
    return _runs_at_once(None if owner or method in writes else names.get(method))


def _runs_at_once(function: Any) -> FunctionType | None:  # noqa: ANN401
    """Return a function of the user's whose code runs where it is called."""
    if type(function) is not FunctionType or not is_local_module(introspection.module_of(function)):
        return None
    return None if function.__code__.co_flags & _RUNS_LATER else function


def _name_of(code: CodeType, argument: int | str) -> str:
    """Return the name that an argument has in a function, or "" where it has none."""
    given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if isinstance(argument, int):
        return next(iter(given[: code.co_argcount][argument:]), "")
    return argument if argument in given else ""
