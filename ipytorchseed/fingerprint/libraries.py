"""Fingerprints of native objects of libraries: tables, images, geometries."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from xxhash import xxh3_64_hexdigest

from ipytorchseed.fingerprint.arrays import series_of
from ipytorchseed.fingerprint.builtin import class_of
from ipytorchseed.fingerprint.memory import is_borrowed_image
from ipytorchseed.fingerprint.objects import PARTS, write_object
from ipytorchseed.fingerprint.scalars import join
from ipytorchseed.fingerprint.walk import Draft, Walk, Writing, digest_of
from ipytorchseed.introspection.anatomy import anatomy


def write_polars_series(value: Any, walk: Walk) -> Writing:
    """Encode a Polars Series: its numbers, or the hashes of other values.

    Numbers are read as an array. The hashes of other values are computed by Polars, unless the
    process may have mapped files, which Polars could not read safely. Hashes are the same in each
    process:
    https://docs.pola.rs/api/python/stable/reference/series/api/polars.Series.hash.html
    """
    kind = sys.modules["polars"].Series
    if type(value) is not kind:  # a user's class, whose code would run
        return (yield from write_object(value, walk))
    length, dtype = kind.len(value), str(value.dtype)
    token = yield value.name
    numbers = None if "Object" in dtype else _as_array(kind, value)
    if numbers is not None:
        token += yield numbers
    elif "Object" in dtype or walk.maps_files:  # hashing objects runs user code
        walk.mark_unseen(f"polars.{dtype}")
    else:
        rows = walk.split(length, kind.estimated_size(value))
        hashes = (kind.hash(kind.slice(value, it.start, it.stop - it.start)) for it in rows)
        token += walk.read_pieces(each.to_numpy().data.cast("B") for each in hashes)
    content = f"polars {dtype};{length};".encode() + token
    parts = {"shape": str(length), "dtype": dtype} if walk.top else {}
    return Draft(content, "series", f"{dtype} Series of {length:,}", parts)


def _as_array(kind: Any, value: Any) -> object:
    """Return a Series as an array without copying, or None if that is impossible."""
    with suppress(RuntimeError):
        return kind.to_numpy(kind.rechunk(value), allow_copy=False)
    return None


def write_polars_frame(value: Any, walk: Walk) -> Writing:
    """Encode a DataFrame of Polars."""
    if type(value) is not sys.modules["polars"].DataFrame:
        return (yield from write_object(value, walk))
    columns = [(each.name, each) for each in value.get_columns()]
    tokens = yield from walk.named(walk.pick(columns))
    shape = f"{value.height} x {len(columns)}"
    content = b"polars frame" + shape.encode() + join(tokens)
    names = xxh3_64_hexdigest(join([(name, b"") for name, _ in columns]))
    parts = {"shape": shape, "columns": names}
    if walk.top and len(columns) <= PARTS:
        parts |= {f"k:{name}": digest_of(token) for name, token in tokens}
    return Draft(content, "frame", f"DataFrame {shape}", parts)


def write_jax_array(value: Any, walk: Walk) -> Writing:
    """Encode a JAX array by its numbers, or as opaque if it is not on one CPU.

    This waits until JAX has computed the array. The array is read through DLPack, which leaves no
    reference behind: a reference would keep JAX from reusing the memory.
    """
    made = anatomy(type(value))
    name, shape = str(value.dtype), tuple(value.shape)
    head = f"jax {name} {shape} {value.weak_type}".encode()
    on_cpu = not value.is_deleted() and {each.platform for each in value.devices()} == {"cpu"}
    if not (on_cpu and value.is_fully_addressable and len(value.devices()) == 1):
        walk.mark_unseen(made.name)
        return Draft(head, "opaque", f"{name} JAX array", opaque=True)
    numpy = sys.modules["numpy"]
    try:
        plain = numpy.from_dlpack(value)
    except (BufferError, RuntimeError):  # a dtype that numpy does not have, such as bfloat16
        plain = numpy.asarray(value)
    token = yield plain
    content = head + token
    if not walk.top:
        return Draft(content, "array")
    size = " x ".join(map(str, shape)) or "scalar"
    parts = {"shape": size, "dtype": name}
    return Draft(content, "array", f"{name} JAX array {size}", parts, series_of(plain))


def key_state(value: Any) -> object:
    """Return the numbers of a JAX random key."""
    return dict(anatomy(type(value)).attributes(value))["_base_array"]


def booster_rounds(value: Any) -> object:
    """Return for how many rounds an XGBoost booster was trained."""
    return class_of(value, "xgboost.core.Booster").num_boosted_rounds(value)


def table_state(value: Any) -> object:
    """Return the names and columns of an Arrow table."""
    return [*zip(value.column_names, value.columns, strict=True)]


def tree_state(value: Any) -> object:
    """Return the splits and values of the nodes of a scikit-learn decision tree."""
    kind = class_of(value, "sklearn.")
    arrays = (getattr(kind, name).__get__(value) for name in ("threshold", "feature", "value"))
    return tuple(each.tobytes() for each in arrays)


def points_state(value: Any) -> object:
    """Return the pickled state of a SciPy ``cKDTree``: its points and nodes."""
    return class_of(value, "scipy.").__getstate__(value)


def neighbors_state(value: Any) -> object:
    """Return the points and nodes of a ``KDTree`` or ``BallTree``, without counters."""
    return class_of(value, "sklearn.").__getstate__(value)[:7]


def geometry_state(value: Any) -> object:
    """Return a geometry as well-known binary."""
    return sys.modules["shapely"].to_wkb(value, include_srid=True)


_OF_IMAGE = ("_mode", "_size", "info", "palette")


def write_image(value: Any, walk: Walk) -> Writing:
    """Encode a Pillow image by its pixels, or only by its attributes.

    The pixels are not read if that would load the image's file, apply a changed palette, run code
    of a user's subclass, or read foreign memory, which may be unmapped.
    """
    image = sys.modules["PIL.Image"].Image
    made = anatomy(type(value))
    fields: dict[str, Any] = dict(made.attributes(value))
    touched = getattr(fields.get("palette"), "dirty", 0)
    users = not made.name.startswith("PIL.")
    if users or touched or fields.get("_im") is None:
        return (yield from write_object(value, walk))
    if is_borrowed_image(fields):
        draft = yield from write_object(value, walk)
        width, height = fields["_size"]
        draft.kind, draft.parts = "image", {}
        draft.summary = f"{fields['_mode']} image of {width} x {height}"
        return draft
    tokens = yield from walk.named([(each, fields.get(each)) for each in _OF_IMAGE])
    width, height = fields["_size"]
    rows = walk.split(height, 4 * width * height)
    strips = (image.crop(value, (0, each.start, width, each.stop)) for each in rows)
    pixels = walk.read_pieces(map(image.tobytes, strips))
    content = made.name.encode() + join(tokens) + pixels
    shape = f"{width} x {height}"
    parts = {"shape": shape, "content": pixels[:8].hex()} if walk.top else {}
    return Draft(content, "image", f"{fields['_mode']} image of {shape}", parts)
