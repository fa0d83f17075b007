"""Finds out who owns memory.

Memory that numpy, torch or Python do not own may be unmapped, and reading it crashes the process.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ipytorchseed.fingerprint.native import is_tensor_type, native
from ipytorchseed.introspection.anatomy import full_name

# Types of Python that do not release their memory while a memoryview uses it.
_KEPT = (bytes, bytearray, array)


def owns_view(view: memoryview) -> bool:
    """Return whether the memory of a memoryview is owned."""
    return issubclass(type(view.obj), _KEPT)


def owns_storage(storage: Any) -> bool:
    """Return whether the memory of a CPU storage is known to be torch's own.

    torch resizes only what it allocated. It also refuses to resize memory that a numpy array
    uses, and the result of ``torch.load``, so memory that cannot be resized may be any.
    """
    at = native()
    return bool(at.resizable(storage)) and not at.is_shared(storage)


def owns_array(value: Any) -> bool:
    """Return whether the memory of an array is owned, by what it is a view of.

    It is not if a view reaches beyond its base: ``as_strided`` made it, or the base became
    shorter.
    """
    numpy: Any = sys.modules["numpy"]
    array = numpy.ndarray
    base_of, flags_of = array.base.__get__, array.flags.__get__
    root, base = value, base_of(value)
    while not flags_of(root).owndata:
        kind = type(base)
        if issubclass(kind, array):
            root, base = base, base_of(base)
        elif full_name(kind).startswith("numpy.") and full_name(kind).endswith(".DummyArray"):
            base = base.base  # the argument of `as_strided`
        elif issubclass(kind, numpy.void):  # a record, which may be in an array
            base = numpy.void.base.__get__(base)
            if base is None:
                return True
        elif not _owns_base(base):
            return False
        else:
            break
    return root is value or is_inside(value, root)


def _owns_base(base: Any) -> bool:
    """Return whether the memory of an array that is not a view is owned."""
    kind = type(base)
    if kind is bytes:
        return True
    if kind is memoryview:
        return owns_view(base)
    is_dense = is_tensor_type(kind) and native().layout(base) is native().strided
    return is_dense and owns_storage(native().storage(base))


def is_borrowed_image(fields: Mapping[str, Any]) -> bool:
    """Return whether Pillow does not own the memory of an image, by its attributes."""
    return bool(fields.get("map") or fields.get("_readonly"))


_INSTALLED = ("/usr/", "/lib", "/etc/", "/dev/shm/sem.", sys.prefix, sys.base_prefix)  # noqa: S108

# The ending of files that SQLite maps and does not shrink while in use: a ledger's.
_INDEX = "-shm"


def maps_files() -> bool:
    """Return whether this process may have mapped files of the user.

    Reading a mapped file that became shorter crashes the process. Programs and installed packages
    do not count. True if unknown.
    """
    try:
        lines = Path("/proc/self/maps").read_text("utf-8", "replace").splitlines()
    except OSError:
        return True
    mapped = [each.split(maxsplit=5) for each in lines]
    paths = [each for each in mapped if len(each) == 6 and each[5][0] == "/"]  # noqa: PLR2004
    named = [(each[1], each[5].removesuffix(" (deleted)")) for each in paths]
    code = {path for allowed, path in named if "x" in allowed}
    data = {path for _, path in named if not path.endswith(_INDEX)} - code
    return any(not path.startswith(_INSTALLED) for path in data)


def is_inside(value: Any, root: Any) -> bool:
    """Return whether all elements of an array are in the memory of another, dense one."""
    asarray = sys.modules["numpy"].asarray  # for a subclass: without its overrides
    (begin, end), (low, high) = (_reach(asarray(each)) for each in (value, root))
    ahead = address_of_array(asarray(value)) - address_of_array(asarray(root))
    return bool(low <= ahead + begin and ahead + end <= high)


def _reach(value: Any) -> tuple[int, int]:
    if value.flags.c_contiguous:
        return 0, value.nbytes
    return extent(value.shape, value.strides, value.itemsize)


def address_of_array(value: Any) -> int:
    """Return the address of an array's first element."""
    return int(value.__array_interface__["data"][0])


def extent(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> tuple[int, int]:
    """Return how many bytes elements reach before and after the first one's address."""
    low, high = 0, item
    for length, step in zip(shape, strides, strict=True):
        reach = (length - 1) * step
        if reach < 0:
            low += reach
        else:
            high += reach
    return low, high
