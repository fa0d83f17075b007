"""Parts of values that a cell reads: named as fingerprints name them, and looked at."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec.structs import replace

from ipytorchseed.fingerprint.native import Unseen, native
from ipytorchseed.fingerprint.owners import owns_array
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.introspection.anatomy import attributes, module_of_class
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.introspection.values import index_named
from ipytorchseed.patterns import lazy_pattern
from ipytorchseed.reads.keys import SIZES
from ipytorchseed.reads.methods import BY_KEYS, INSIDE, LAYER, may_run, through_methods

Look = Callable[[Any], Fingerprint]

_MOST, _MOST_BYTES = 16, 2**24
"""Places that are told of one value, and bytes of a value of which any are: they are read twice."""

_SIZES = {
    **dict.fromkeys(("array", "frame", "series", "tensor"), "shape"),
    **dict.fromkeys(("deque", "dict", "list", "set", "tuple"), "length"),
}
"""The part in which the size of a value lies, by kind."""

_LABELS = {
    **{(kind, "a:dtype"): "dtype" for kind in ("array", "series", "tensor")},
    **{("tensor", f"a:new_{each}"): "dtype" for each in ("empty", "full", "ones", "zeros")},
    **{("dict", each): "keys" for each in BY_KEYS},
    **{("frame", each): each[2:] for each in ("a:columns", "a:index")},
    ("frame", "a:__len__"): "index",
    **{("frame", f"a:{each}"): f"k:{each}" for each in ("dim", "numel")},  # no size of a frame
}
"""Parts in which the answers of other attributes and methods lie, by kind."""

_DATA = "torch.utils.data."
_COUNTED = frozenset(
    {"batch_sampler", "batch_size", "data_source", "drop_last", "indices", "num_samples"}
    | {"_num_samples", "sampler"}
)
_SEVERAL = "tensors", "datasets"
"""Where torch's loaders are defined, and on which attributes their length hangs."""

_PLAIN, _ROWS = (int, bool, type(None)), (dict, list, range, tuple)
_ARRAYS = frozenset({"numpy", "pandas", "torch"})
"""Types of these attributes, and modules of such types."""

_MOST_COUNTED = 64
"""Objects that are asked what one length hangs on: there may be any number, or a circle of them."""

_SETTING = lazy_pattern(r"a:param_groups\.\d+\.(?!params\b)\w+")
"""An item of a group of an optimizer's that is not its parameters."""


def with_parts(value: Any, found: Fingerprint, wanted: Collection[str], look: Look) -> Fingerprint:  # noqa: ANN401
    """Add to a fingerprint what is told of a value only where code reads it.

    That is what lies at places of a list, array or tensor (``k:[:8]``, ``k:[:,0]``), and the size
    of what an attribute or item holds (``a:X.shape``).

    Args:
        value: The value.
        found: Its fingerprint.
        wanted: The parts that code reads.
        look: Returns the fingerprint of what lies there.
    """
    sizes = {part: size for part in wanted if (size := _size_inside(value, part, look))}
    parts = {**sizes, **found.parts}
    names = {part.partition(".")[0] for part in wanted if part[:3] == "k:["} - found.parts.keys()
    few = 0 < len(names) <= _MOST
    for name in names if few and found.exact and _is_small(value) else ():
        try:
            with Unseen():
                piece = value[index_named(name[3:-1])]
        except (IndexError, TypeError, ValueError):
            continue
        told = look(piece)
        if told.exact and not told.opaque:
            parts[name] = told.digest
    return replace(found, parts=parts)


def _is_small(value: Any) -> bool:  # noqa: ANN401
    """Tell whether a value is a sequence of nobody's class that is read again safely and soon."""
    kind, torch, numpy = type(value), sys.modules.get("torch"), sys.modules.get("numpy")
    if kind is list or kind is tuple:
        return len(value) <= _MOST_BYTES // 2**8
    if kind is getattr(numpy, "ndarray", None):
        return bool(value.nbytes <= _MOST_BYTES) and owns_array(value)  # a number is read
    if kind is not getattr(torch, "Tensor", None):
        return False
    at = native()
    plain = at.layout(value) is at.strided and not at.requires_grad(value)
    return bool(plain and at.numel(value) * at.element_size(value) <= _MOST_BYTES)


def _size_inside(value: object, part: str, look: Look, asked: list[object] | None = None) -> str:
    """Return the size of what an attribute or item of a value holds: ``a:X.shape``; or nothing."""
    *steps, last = part[2:].split(".")
    if last not in SIZES:
        return ""
    for step in steps:
        held = {} if may_run(value, step) else dict(attributes(value))
        value = (value if type(value) is dict else held).get(step)
    is_users = is_local_module(module_of_class(type(value)))  # which may answer otherwise
    is_data = module_of_class(type(value)).startswith(_DATA) or (is_users and steps)
    if last == "__len__" and is_data:
        return _count(value, look, [] if asked is None else asked)
    if is_users or not steps:
        return ""
    told = look(value)
    size = _LABELS.get((told.kind, f"a:{last}"), _SIZES.get(told.kind, ""))
    return told.parts.get(size, "")


def _count(value: Any, look: Look, asked: list[object]) -> str:  # noqa: ANN401
    """Tell all that the length of a loader or data set hangs on; nothing where that is unknown.

    Nobody is asked for it: that may be code of the user's.

    Args:
        value: The loader or data set, or what its length hangs on.
        look: Looks at a value.
        asked: What the same length hangs on and was looked into already.
    """
    asked.append(value)
    if len(asked) > _MOST_COUNTED:
        return ""
    made, held = type(value), dict[str, Any](attributes(value))
    if made in _PLAIN:
        return str(value)
    if made in _ROWS:
        return str(len(value))
    if module_of_class(made) in _ARRAYS:
        return look(value).parts.get("shape", "")
    if is_local_module(module_of_class(made)):
        parts = through_methods(value, {"a:__len__"}) or set()
        told = [_size_inside(value, part, look, asked) for part in sorted(parts)]
    elif module_of_class(made).startswith(_DATA):
        lists = [held[name] for name in _SEVERAL if type(held.get(name)) in (list, tuple)]
        several = [each for every in lists for each in every]
        one = [each for name, each in held.items() if name in _COUNTED]
        few = (*several, *one)[: _MOST_COUNTED + 1]
        told = [_count(each, look, asked) for each in few]
    else:
        return ""
    return " ".join(told) if told and all(told) else ""


def parts_read(
    parts: Mapping[str, set[str]], values: Mapping[str, Fingerprint]
) -> dict[str, tuple[str, ...]]:
    """Name the parts of values as fingerprints do, where these tell them all apart.

    A column of a data frame may be read as an attribute; any other name that is no part is that of
    a method or property, which may look at everything.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, wanted in parts.items():
        known = values[name].parts if name in values else {}
        layers = {part for part in wanted if part.startswith(LAYER)}
        columns = {_part(part, values[name]) for part in wanted - layers} if known else set()
        hooked = "hooks" in known and (layers or INSIDE in wanted)  # which are given all of it
        absent = _absent(wanted, values[name]) if known else set()
        if known and columns - absent <= known.keys() and not hooked:
            found[name] = tuple(sorted(columns | layers))
    return found


def _absent(wanted: Collection[str], value: Fingerprint) -> set[str]:
    """Return the items that are asked for by their keys and are not there: the cell sets them."""
    told = value.kind in _KEYED and any(part[:2] == "k:" for part in value.parts)
    other = _ODD_KEY if value.kind == "dict" else _NO_COLUMN
    return {part for part in wanted if told and part[:2] == "k:" and not other.search(part)}


_ODD_KEY, _NO_COLUMN = lazy_pattern(r"\.|k:\[.*[,:]"), lazy_pattern(r"\.|k:\[")
"""Items of items, slices of a dictionary's, and rows of a frame: none is told as a part."""


_KEYED = frozenset({"dict", "frame"})
"""Kinds of values of which all items are told apart, or none."""


def _part(part: str, value: Fingerprint) -> str:
    """Name a part that a cell reads as fingerprints do: columns, and what tells the size.

    What is not told apart inside an item or attribute is that.
    """
    if part in value.parts:
        return part
    if value.kind == "optimizer" and _SETTING.fullmatch(part):
        return "settings"
    if part.startswith("a:") and "." in part:
        return _part(part.rpartition(".")[0], value)
    size = _SIZES.get(value.kind, "") if part[2:] in SIZES and part[:2] == "a:" else ""
    size = _LABELS.get((value.kind, part), size)
    if size in value.parts:
        return size
    outer = part.partition(".")[0]
    return outer if part.startswith("k:") and outer in value.parts else f"k:{part[2:]}"
