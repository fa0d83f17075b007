"""Divides values into parts, compares the parts, and restores them in place."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator
from typing import Any

from msgspec import Struct

from ipytorchseed.experiment.copying import ATOMIC
from ipytorchseed.fingerprint import Budget, Fingerprint, fingerprint, same
from ipytorchseed.fingerprint.containers import write_dict
from ipytorchseed.fingerprint.frames import write_frame, write_series
from ipytorchseed.fingerprint.modules import write_nn_module
from ipytorchseed.fingerprint.objects import BY_ATTRIBUTES
from ipytorchseed.fingerprint.optimizers import write_optimizer
from ipytorchseed.fingerprint.table import writer_of
from ipytorchseed.introspection.anatomy import anatomy, find_member, full_name

# The path of a part in a value: its keys, from the outermost to the innermost.
Path = tuple[Hashable, ...]

# Copies a value.
Copy = Callable[[Any], Any]

# The value of a missing part.
MISSING: Any = object()

# The maximum number of parts into which a value is divided.
_MOST = 4096

# The maximum number of objects to pair in two values.
_PAIRS = 1000

# The maximum depth to which a value is divided.
_DEEPEST = 100


class Kind(Struct, frozen=True):
    """The functions that divide values of a kind into parts.

    Attributes:
        divide: Returns the parts of a value by key.
        put: Sets a part of a value, or removes it if the part is ``MISSING``. Returns the value,
            or a new value if the old one is immutable.
        written: The format of a key as code: ``[{!r}]``.
        fits: Returns whether the parts of two values of one class correspond.
        fixed: Whether parts correspond only if both values have the same keys.
        refers: Whether values refer to objects that they do not own, as an optimizer refers to
            parameters.
    """

    divide: Callable[[Any], dict[Any, Any]]
    put: Callable[[Any, Any, Any], Any]
    written: str = "[{!r}]"
    fits: Callable[[Any, Any], bool] = lambda _now, _then: True
    fixed: bool = False
    refers: bool = False


# --------------------------------------------------------------------------------------------------
# Comparing and restoring


def look(value: object) -> Fingerprint | None:
    """Return the fingerprint of a whole value; None if it is ``MISSING``."""
    return None if value is MISSING else fingerprint(value, budget=Budget(float("inf")))


def is_same(now: object, then: object) -> bool:
    """Return whether two values are known to have the same content."""
    if now is then:
        return True
    one, other = look(now), look(then)
    return one is not None and other is not None and same(one, other) is True


def divide(now: Any, then: Any) -> tuple[Kind | None, dict[Any, tuple[Any, Any]]]:
    """Divide two values into corresponding parts.

    Returns:
        The kind of the values, and the part of each of them by key; None and no parts if their
        parts do not correspond.
    """
    one, other = type(now), type(then)
    if now is then or MISSING is now or id(one) in ATOMIC or full_name(one) != full_name(other):
        return None, {}
    writer = writer_of(one)
    kind = _OBJECT if writer in BY_ATTRIBUTES else _KINDS.get(writer)
    if kind is None or not kind.fits(now, then):
        return None, {}
    has, was = kind.divide(now), kind.divide(then)
    if max(len(has), len(was)) > _MOST or (kind.fixed and has.keys() != was.keys()):
        return None, {}
    return kind, {key: (has.get(key, MISSING), was.get(key, MISSING)) for key in {**was, **has}}


def differing(now: object, then: object) -> list[Any]:
    """Return the keys of the differing parts of two values; empty if not divisible."""
    return [key for key, both in divide(now, then)[1].items() if not is_same(*both)]


def find_part(now: Any, then: Any, path: Path) -> tuple[Any, Any, str]:
    """Return the part at a path in two values, and the path as code: ``.lr``."""
    text = ""
    for key in path:
        kind, both = divide(now, then)
        assert kind is not None  # noqa: S101 -- the path was found in them
        now, then = both.get(key, (MISSING, MISSING))
        text += kind.written.format(key)
    return now, then, text


def pairs(now: Any, then: Any, seen: set[int]) -> Iterator[tuple[Any, Any]]:
    """Yield the corresponding objects in two values, as far as they can be mutated.

    Args:
        now: The value whose objects can be mutated in place.
        then: The other value.
        seen: The ids of objects in ``now`` that were yielded. It is extended.
    """
    waiting = [(now, then)]
    while waiting and len(seen) < _PAIRS:
        now, then = waiting.pop()
        if id(now) in seen:
            continue
        kind, both = divide(now, then)
        if kind is not None or has_same_form(now, then):
            seen.add(id(now))
            yield now, then
            waiting += both.values()


def put_back(now: Any, then: Any, paths: Collection[Path], copy: Copy, *within: int) -> Any:
    """Restore parts of a value, in place if possible.

    Args:
        now: The value.
        then: The earlier value, which is not changed.
        paths: The paths of the parts; the empty path is the whole value.
        copy: Copies a part of the earlier value.
        within: The ids of the values that contain this value.

    Returns:
        The value, or a new value if the old one is immutable.
    """
    if id(now) in within:
        return now
    kind, both = divide(now, then) if len(within) < _DEEPEST else (None, {})
    if () in paths:
        if has_same_form(now, then):
            _write_over(now, then)
            return now
        paths = {(key,) for key in both if not is_same(*both[key])}
    if kind is None or not paths:
        return now if kind is not None and kind.refers else copy(then)
    around = (*within, id(now))
    inner: dict[Hashable, set[Path]] = {}
    for key, *rest in paths:
        inner.setdefault(key, set()).add(tuple(rest))
    for key, (part, old) in both.items():
        if key in inner:
            made = old if old is MISSING else put_back(part, old, inner[key], copy, *around)
            now = kind.put(now, key, made)
    return now


def has_same_form(now: Any, then: Any) -> bool:
    """Return whether ``now``'s numbers can be overwritten with those of ``then``.

    Both must be arrays, or both tensors, of the same shape and type.
    """
    if now is then or type(now) is not type(then):
        return False
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and type(now) is numpy.ndarray:
        alike = (now.shape, now.dtype) == (then.shape, then.dtype)
        return alike and now.flags.writeable and not now.dtype.hasobject
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "nn") or type(now) not in {torch.Tensor, torch.nn.Parameter}:
        return False
    forms = [(each.shape, each.dtype, each.device, each.layout) for each in (now, then)]
    plain = now.layout is torch.strided and not (now.is_quantized or now.is_inference())
    return forms[0] == forms[1] and plain and 0 not in now.stride()


def _write_over(now: Any, then: Any) -> None:
    """Overwrite the numbers of an array or tensor, and a tensor's gradient."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(now, torch.Tensor):
        now[...] = then
        return
    with torch.no_grad():
        now.copy_(then)
    if now.is_leaf:
        now.requires_grad_(then.requires_grad)
        now.grad = None if then.grad is None else then.grad.clone()


# --------------------------------------------------------------------------------------------------
# Kinds


def _put_item(value: Any, key: Any, part: Any) -> Any:
    if part is MISSING:
        del value[key]
    else:
        value[key] = part
    return value


def _items(value: dict[Any, Any]) -> dict[Any, Any]:
    return {key: item for key, item in dict.items(value) if id(type(key)) in ATOMIC}


def _numbered(value: Any) -> dict[int, Any]:
    return dict(enumerate(value))


def _put_in_tuple(value: Any, key: int, part: Any) -> Any:
    return tuple.__new__(type(value), [*value[:key], part, *value[key + 1 :]])


def _attributes(value: object) -> dict[str, Any]:
    found = anatomy(type(value)).attributes(value)
    return {name: part for name, part in found if not name.endswith(("__dict__", "_hooks"))}


def _put_attribute(value: object, name: str, part: Any) -> Any:
    """Set an attribute without running code of its class."""
    made = anatomy(type(value))
    fields, slot = made.dictionary(value), find_member(type(value), name)
    if fields is not None and name not in dict(made.slots):
        _put_item(fields, name, part)
    elif part is MISSING:
        slot.__delete__(value)
    else:
        slot.__set__(value, part)
    return value


# The dictionaries of a module whose items are also its attributes.
_TREES = ("_buffers", "_modules", "_parameters")


def _parts_of_module(value: Any) -> dict[str, Any]:
    """Divide a module by access path: ``.weight``, or ``[0]`` in a sequence."""
    fields = _attributes(value)
    for tree in _TREES:
        fields |= fields.pop(tree)
    return {f"[{n}]" if n.isdecimal() else f".{n}": part for n, part in fields.items()}


def _put_in_module(value: Any, key: str, part: Any) -> Any:
    name, fields = key.strip(".[]"), vars(value)
    _put_item(next((fields[each] for each in _TREES if name in fields[each]), fields), name, part)
    return value


def _parts_of_optimizer(value: Any) -> dict[str, Any]:
    """Divide an optimizer into its attributes and the items of its ``state_dict``."""
    return {**_attributes(value), "step": None, **value.state_dict()}


def _put_in_optimizer(value: Any, name: str, part: Any) -> Any:
    held = value.state_dict()
    if name not in held:
        return _put_attribute(value, name, part)
    value.load_state_dict({**held, name: part})
    return value


def _fits(now: Any, then: Any) -> bool:
    sizes = [[len(group["params"]) for group in each.param_groups] for each in (now, then)]
    return sizes[0] == sizes[1]


def _columns(value: Any) -> dict[Any, Any]:
    return {name: value[name] for name in value.columns if value.columns.is_unique}


def _put_in_row(value: Any, row: int, part: Any) -> Any:
    made = value.copy()
    made.iloc[row] = part
    return made


def _fit_by_row(now: Any, then: Any) -> bool:
    return bool(now.dtype == then.dtype and now.index.equals(then.index))


_OBJECT = Kind(_attributes, _put_attribute, ".{}")
_ITEMS = Kind(_numbered, _put_item, fixed=True)
# The kinds, by the function that writes the digest of their values.
_KINDS = {
    write_dict: Kind(_items, _put_item),
    writer_of(list): _ITEMS,
    writer_of(deque): _ITEMS,
    writer_of(tuple): Kind(_numbered, _put_in_tuple, fixed=True),
    write_nn_module: Kind(_parts_of_module, _put_in_module, "{}", fixed=True),
    write_optimizer: Kind(_parts_of_optimizer, _put_in_optimizer, ".{}", _fits, refers=True),
    write_frame: Kind(_columns, _put_item, fits=lambda now, then: now.index.equals(then.index)),
    write_series: Kind(_numbered, _put_in_row, ".iloc[{}]", _fit_by_row),
}
