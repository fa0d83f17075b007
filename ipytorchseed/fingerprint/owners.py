"""Whose memory it is: what nobody here keeps may be gone, and then reading it kills the process."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from ipytorchseed.fingerprint.native import is_tensor_type, native
from ipytorchseed.introspection.anatomy import full_name


class Owner(Enum):
    """Who allocated a memory, and whether it is kept."""

    LIBRARY = "numpy, torch or Python, which keep it as long as the value is there"
    UNTOLD = "torch itself or somebody else, which torch does not tell"
    OTHER = "somebody else: a file, shared memory, a pointer"


_KEPT = (bytes, bytearray, array)
"""Types of Python's own memory, which none of them gives back while a memoryview looks at it."""


def owner_of_view(view: memoryview) -> Owner:
    """Return the owner of the memory of a memoryview."""
    return Owner.LIBRARY if issubclass(type(view.obj), _KEPT) else Owner.OTHER


def owner_of_storage(storage: Any) -> Owner:
    """Return the owner of the memory of a storage on the CPU.

    torch resizes only what it allocated. It refuses to resize that too once a numpy array looks at
    it, and what ``torch.load`` made; so of memory that is not resizable, nobody can tell.
    """
    at = native()
    if at.is_shared(storage):
        return Owner.OTHER
    return Owner.LIBRARY if at.resizable(storage) else Owner.UNTOLD


def owner_of_array(value: Any) -> Owner:
    """Return the owner of the memory of an array, by what it is a view of.

    A view that reaches beyond its base counts as another's: it was made by ``as_strided``, or
    its base was made shorter.
    """
    numpy: Any = sys.modules["numpy"]
    array = numpy.ndarray
    base_of, flags_of = array.base.__get__, array.flags.__get__
    if flags_of(value).owndata:
        return Owner.LIBRARY
    root, base = value, base_of(value)
    while True:
        kind = type(base)
        if issubclass(kind, array):
            root = base
            if flags_of(root).owndata:
                break
            base = base_of(root)
        elif full_name(kind).startswith("numpy.") and full_name(kind).endswith(".DummyArray"):
            base = base.base  # what `as_strided` was given
        elif issubclass(kind, numpy.void):  # a record, which may lie in an array
            base = numpy.void.base.__get__(base)
            if base is None:
                return Owner.LIBRARY
        else:
            break
    owner = Owner.LIBRARY if base is root else _owner_of_base(base)
    if owner is Owner.OTHER or root is value or is_inside(value, root):
        return owner
    return Owner.OTHER


def _owner_of_base(base: Any) -> Owner:
    """Return the owner of the memory of an array that is no view of another array."""
    kind = type(base)
    if kind is bytes:
        return Owner.LIBRARY
    if kind is memoryview:
        return owner_of_view(base)
    if is_tensor_type(kind) and native().layout(base) is native().strided:
        return owner_of_storage(native().storage(base))
    return Owner.OTHER


def is_lent_image(fields: Mapping[str, Any]) -> bool:
    """Tell whether an image of Pillow's lies in memory of somebody else, by its attributes."""
    return bool(fields.get("map") or fields.get("_readonly"))


_INSTALLED = ("/usr/", "/lib", "/etc/", "/dev/shm/sem.", sys.prefix, sys.base_prefix)  # noqa: S108

_INDEX = "-shm"
"""How SQLite's files end that it maps, and makes no shorter while they are in use: a ledger's."""


def maps_files() -> bool:
    """Tell whether this process may have mapped files of the user's: one that became shorter kills.

    Programs and what was installed with them do not count. True where the system does not tell.
    """
    try:
        lines = Path("/proc/self/maps").read_text("utf-8", "replace").splitlines()
    except OSError:
        return True
    mapped = [each.split(maxsplit=5) for each in lines]
    named = [(each[1], each[5]) for each in mapped if len(each) == 6 and each[5][0] == "/"]  # noqa: PLR2004
    code = {path for allowed, path in named if "x" in allowed}
    data = {path for _, path in named if not path.endswith(_INDEX)} - code
    return any(not path.startswith(_INSTALLED) for path in data)


def is_inside(value: Any, root: Any) -> bool:
    """Tell whether all elements of an array lie in the memory of another, which is dense."""
    asarray = sys.modules["numpy"].asarray  # of a subclass: past what that overrides
    value, root = asarray(value), asarray(root)
    (begin, end), (low, high) = map(_reach, (value, root))
    ahead = address_of_array(value) - address_of_array(root)
    return bool(low <= ahead + begin and ahead + end <= high)


def _reach(value: Any) -> tuple[int, int]:
    if value.flags.c_contiguous:
        return 0, value.nbytes
    return extent(value.shape, value.strides, value.itemsize)


def address_of_array(value: Any) -> int:
    """Return where the first element of an array lies."""
    return int(value.__array_interface__["data"][0])


def extent(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> tuple[int, int]:
    """Return how far elements reach, in bytes before and after the first one's address."""
    low, high = 0, item
    for length, step in zip(shape, strides, strict=True):
        reach = (length - 1) * step
        if reach < 0:
            low += reach
        else:
            high += reach
    return low, high
