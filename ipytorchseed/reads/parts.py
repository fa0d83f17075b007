"""Values of which code reads only some parts: attributes, items, columns, the size."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Mapping
from typing import Any

from ipytorchseed.introspection.anatomy import (
    attributes,
    module_of_class,
    mro,
    name_of_class,
    own,
)
from ipytorchseed.introspection.values import identities
from ipytorchseed.reads.abstract import HELD, ITEM, ITERATE, MOST_TEXTS, PUT
from ipytorchseed.reads.columns import ALL_BUT
from ipytorchseed.reads.effects import Effects
from ipytorchseed.reads.keys import PUTS
from ipytorchseed.reads.methods import may_run


def find_parts(
    effects: Effects, names: Mapping[str, Any], given: Mapping[str, set[str] | None]
) -> dict[str, set[str] | None]:
    """Find which parts of the values that it names some code reads.

    Args:
        effects: What it does with names.
        names: What they hold.
        given: By name, what functions read of it that it is given to, as below.

    Returns:
        By name: attributes (``a:batch``, ``a:model.rate``) and items or columns (``k:price``);
        None for all of it.
    """
    used = {name: {*parts} for name, parts in given.items() if parts is not None}
    whole = given.keys() - used.keys()
    for path in effects.paths:
        root, _, rest = path.partition(".")
        part = rest.partition("()")[0].replace("[", "").replace("]", "")
        if not part:
            whole.add(root)
        else:
            used.setdefault(root, set()).update(() if part.endswith("=") else (f"a:{part}",))
    varies = {path for path, key in effects.items if not key} | effects.handed
    for path, key in effects.items:
        root = path.removesuffix(".get")
        parts = used.setdefault(root, set())
        parts |= {f"k:{key}"} if key else set()
        parts -= set() if path in varies else {"a:get"}
    for root, key in effects.columns:
        held = names.get(root)
        if key == PUT:
            if id(type(held)) in _DICTIONARIES:
                used.setdefault(root, set())
            else:
                whole.add(root)
            continue
        columns = _columns(held, key, effects, names) if is_frame(held) else None
        if columns is None and type(held) in (dict, list, tuple):
            columns = _item(key, effects, names)
        if columns is not None:
            used.setdefault(root, set()).update(f"k:{each}" for each in columns)
            used[root] |= {"a:columns"} if key[:1] == ALL_BUT else set()
        elif otherwise := path_otherwise(root, key):
            used.setdefault(root, set()).add(f"a:{otherwise.partition('.')[2]}")
        else:
            whole.add(root)
    return {name: None if name in whole else used.get(name) for name in effects.reads}


def path_otherwise(root: str, key: str) -> str:
    """Return what is looked up where a column is asked of what is no data frame, as a path.

    Args:
        root: The name that is asked.
        key: The column, as in ``Effects.columns``.
    """
    if not key:
        return f"{root}.apply"
    return f"{root}.{ITEM}" if key[0] in _OPEN else ""


_OPEN = ".\0"
"""What keys begin with that hang on what names hold."""


def _columns(
    frame: object, key: str, effects: Effects, names: Mapping[str, Any]
) -> list[str] | None:
    """Return the columns of a data frame that a key stands for; None where nobody knows."""
    if key[:1] == ALL_BUT:
        labels = [*vars(frame)["_mgr"].axes[0]]
        dropped = [_columns(frame, each, effects, names) for each in key[1:].split(ALL_BUT)]
        known = None not in dropped and all(type(each) is str for each in labels)
        return [*{*labels}.difference(*filter(None, dropped))] if known else None
    held = HELD.fullmatch(key)
    if held is None:
        attribute = key[1:] if key[:1] == "." else ""
        is_member = attribute and any(attribute in own(each) for each in mro(type(frame)))
        return None if is_member else [key.lstrip(".")] if key else []
    name = held[2]
    changes = name in effects.writes or any(
        path.startswith(f"{name}.") and path.partition(".")[2] not in _LOOKS
        for path in effects.paths
    )
    return None if changes else columns_held(names.get(name))


def columns_held(value: Any) -> list[str] | None:  # noqa: ANN401
    """Return the columns that a text or a list of texts names; None for anything else, or many."""
    found: list[Any] = [value] if type(value) is str else []
    if type(value) is list or type(value) is tuple:
        found = [*value]
    known = 0 < len(found) <= MOST_TEXTS and all(type(each) is str for each in found)
    return found if known else None


def _item(key: str, effects: Effects, names: Mapping[str, Any]) -> list[str] | None:
    """Return the item of a container that a name stands for; None where nobody knows."""
    held = HELD.fullmatch(key)
    value = names.get(held[2]) if held is not None and held[2] not in effects.writes else None
    if type(value) is str and value and "." not in value:
        return [value]
    return [f"[{value}]"] if type(value) is int else None


_LOOKS = frozenset({ITERATE, "__len__", "copy", "index"})
"""What may be asked of a list that stays as it is."""


def is_frame(value: object) -> bool:
    """Tell whether a value is a table of pandas, and of none of its subclasses."""
    made = type(value)
    package = module_of_class(made).partition(".")[0]
    return (package, name_of_class(made)) == ("pandas", "DataFrame")


_ANY = f"a:{ITEM}"
_LISTS = identities([list, deque, set])
_DICTIONARIES = identities([dict, defaultdict, OrderedDict])
_FACTORY: Any = vars(defaultdict)["default_factory"]


_PUTS_INTO = {
    **dict.fromkeys(_LISTS, PUTS),
    **dict.fromkeys(_DICTIONARIES, frozenset({"__setitem__", "update"})),
}
"""By type, methods that only put something in."""


def without_puts(value: object, parts: set[str]) -> set[str]:
    """Leave out the lists and sets that code only puts something into: it reads nothing of them.

    Args:
        value: What holds them, as in ``history["loss"].append(3)`` and ``state.log.append(3)``.
        parts: Parts of it that code uses, as in ``find_parts``.
    """
    found = set[str]()
    for part in parts:
        owner, _, method = part.rpartition(".")
        puts = method in PUTS and not _has_key(value, part[2:])
        kinds = _kinds(value, owner) if puts else set[int]()
        if part[2:] in _PUTS_INTO.get(id(type(value)), ()):
            continue
        if not kinds or not kinds <= _LISTS:
            found.add(owner if puts and (owner == _ANY or owner[:2] == "k:") else part)
    return found


def with_each_item(value: Any, parts: set[str]) -> set[str]:  # noqa: ANN401
    """Name each item of a dictionary that is asked for keys which vary: no others can be found.

    Args:
        value: What is asked, as in ``prices[each]``.
        parts: Parts of it that code uses, as in ``find_parts``.
    """
    if _ANY not in parts or type(value) is not dict or len(value) > MOST_TEXTS:
        return parts
    keys = [*value]
    if not all(type(key) is int or (type(key) is str and key and "." not in key) for key in keys):
        return parts
    return parts - {_ANY} | {f"k:{key}" if type(key) is str else f"k:[{key}]" for key in keys}


def _has_key(value: Any, key: str) -> bool:  # noqa: ANN401
    return id(type(value)) in _DICTIONARIES and dict.__contains__(value, key)


def _kinds(value: Any, part: str) -> set[int]:  # noqa: ANN401
    """Return the types of what a part of a value may be, by identity; none where nobody knows."""
    if id(type(value)) not in _DICTIONARIES:
        known = part[:2] == "a:" and not may_run(value, part[2:])
        return {id(type(each)) for name, each in attributes(value) if known and name == part[2:]}
    items: dict[Any, Any] = value
    made = [id(_FACTORY.__get__(value))] if type(value) is defaultdict else []
    if part == _ANY and len(items) <= MOST_TEXTS:
        return {*made, *(id(type(each)) for each in dict.values(items))}
    held = part[:2] == "k:" and _has_key(items, part[2:])
    return {id(type(dict.__getitem__(items, part[2:])))} if held else {*made}
