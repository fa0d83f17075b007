"""Fingerprints of pandas objects: values, index, columns and dtypes.

How pandas groups columns into blocks does not affect the digest.
"""

from __future__ import annotations

import sys
from typing import Any

from ipytorchseed.fingerprint.arrays import name_of, series_of
from ipytorchseed.fingerprint.objects import PARTS, find_times
from ipytorchseed.fingerprint.scalars import join
from ipytorchseed.fingerprint.walk import Bytes, Draft, Walk, Writing, digest_of
from ipytorchseed.introspection.anatomy import anatomy, dictionary_of, find_member, name_of_class


def write_frame(value: Any, walk: Walk) -> Writing:
    """Encode a DataFrame."""
    fields = dictionary_of(value)
    manager = fields["_mgr"]
    columns, index = manager.axes
    values = [*map(manager.iget_values, range(len(columns)))]
    texts = type(columns).__name__ == "Index" and columns.dtype.kind not in "biufcmM"
    names = list(columns) if len(values) <= PARTS and texts else []
    labels, index_token = yield from walk.tokens((columns, index))
    for place in find_times(names):
        values[place] = None
    tokens = yield from walk.tokens(walk.pick(values))
    rest = yield from _rest(value, fields, walk)
    content = b"frame" + labels + index_token + b"".join(tokens) + rest
    if not walk.top:
        return Draft(content, "frame")
    shape = f"{len(index)} x {len(columns)}"
    parts = {"shape": shape, "index": digest_of(index_token), "columns": digest_of(labels)}
    told = zip(names, tokens, strict=False)
    parts |= {f"k:{name}": digest_of(each) for name, each in told if type(name) is str}
    return Draft(content, "frame", f"DataFrame {shape}", parts)


def write_series(value: Any, walk: Walk) -> Writing:
    """Encode a Series."""
    fields = dictionary_of(value)
    manager = fields["_mgr"]
    index = manager.axes[0]
    values = manager.blocks[0].values
    head = index, values, fields.get("_name")
    index_token, token, name = yield from walk.tokens(head)
    rest = yield from _rest(value, fields, walk)
    content = b"series" + token + index_token + name + rest
    if not walk.top:
        return Draft(content, "series")
    plain = type(values).__module__ == "numpy"
    dtype = name_of(values.dtype) if plain else str(values.dtype)
    parts = {"shape": str(len(index)), "dtype": dtype,
             "index": digest_of(index_token), "content": digest_of(token)}  # fmt: skip
    numbers = series_of(values) if plain else None
    return Draft(content, "series", f"{dtype} Series of {len(index):,}", parts, numbers)


def _rest(value: Any, fields: dict[Any, Any], walk: Walk) -> Bytes:
    """Encode ``attrs``, and the attributes that a subclass adds."""
    wanted = [("attrs", fields.get("_attrs") or None)]
    made = anatomy(type(value))
    if not made.name.startswith("pandas."):
        wanted.append(("class", made.name))
        kind = type(value)
        wanted += [item for item in made.attributes(value) if _is_content(kind, item[0])]
    return join((yield from walk.named(wanted)))


def _is_content(kind: type, name: str) -> bool:
    """Return whether an attribute is content.

    Internals of pandas, and accessors that pandas 2 caches as attributes, are not content.
    """
    accessor = name_of_class(type(find_member(kind, name))) in {"Accessor", "CachedAccessor"}
    return not accessor and name not in _NOT_CONTENT


_NOT_CONTENT = frozenset({"_attrs", "_cache", "_cacher", "_flags", "_id", "_item_cache", "_mgr",
                          "_name", "_no_setting_name", "_readonly", "_reset_identity"})  # fmt: skip


def index_state(value: Any) -> object:
    """Return the content of an Index, without its lookup tables."""
    fields = dictionary_of(value)
    return {name: fields[name] for name in _OF_INDEX if name in fields}


_OF_INDEX = ("_data", "_range", "_levels", "_codes", "_name", "_names")


def extension_state(value: Any) -> object:
    """Return the content of an extension array: categories, times, nullable numbers."""
    items = {n: item for n, item in anatomy(type(value)).attributes(value) if n not in _NOT_CONTENT}
    for name in ("_ndarray", "_dtype", "_pa_array"):
        if name not in items and hasattr(type(value), name):
            items[name] = getattr(value, name)
    return dict(sorted(items.items()))


def arrow_state(value: Any) -> object:
    """Return the type and buffers of an Arrow array.

    If Arrow allocated the buffers, and they have at most 16 MiB, the number of chunks and the
    unused parts of the buffers do not affect the result.
    """
    chunks = [each for each in getattr(value, "chunks", [value]) if len(each)]
    held = [each for chunk in chunks for each in chunk.buffers() if each is not None]
    # Arrow allocated these buffers, so they are not mapped files
    allocated = all(each.is_mutable and each.parent is None for each in held)
    whole = allocated and sum(each.size for each in held) <= _JOINED
    if chunks and whole:
        chunks = [sys.modules["pyarrow"].concat_arrays(chunks)]
    told = []
    for chunk in chunks:
        parts = chunk.buffers()
        if whole and not chunk.null_count:
            parts[:1] = [None]  # the validity bitmap, which has no information here
        buffers = [None if each is None else memoryview(each) for each in parts]
        told.append((len(chunk), chunk.offset, buffers))
    return str(value.type), told


# Up to this many bytes, the chunks of an array are joined, which normalizes their layout.
_JOINED = 2**24


def moment_state(value: Any) -> object:
    """Return the count, unit and time zone of a Timestamp or Timedelta."""
    count = value._value if hasattr(value, "_value") else value.value  # noqa: SLF001 -- of pandas 2
    return count, str(getattr(value, "unit", "ns")), getattr(value, "tzinfo", None)


def dtype_state(value: Any) -> object:
    """Return the attributes of a pandas dtype, without its caches."""
    return {n: it for n, it in anatomy(type(value)).attributes(value) if n[:6] != "_cache"}
