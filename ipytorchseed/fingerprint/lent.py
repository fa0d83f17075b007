"""Elements in a memory that may be gone: read as ``reading`` does, wherever they lie in it.

The digests are those of the same elements in a memory of numpy's or torch's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from xxhash import xxh3_128, xxh3_128_digest

from ipytorchseed.fingerprint import buffers, reading
from ipytorchseed.fingerprint.owners import (
    Owner,
    address_of_array,
    extent,
    owner_of_array,
    owner_of_view,
)
from ipytorchseed.fingerprint.reading import UnreadableError
from ipytorchseed.fingerprint.walk import Walk
from ipytorchseed.introspection.anatomy import full_name

_SLOWER = 4  # times as long as a plain read takes
_CALL = 2**16  # bytes that a plain read gets through while one is asked for
_DENSE = 8  # bytes copied for one that is wanted, at most
_APART = _CALL // _SLOWER  # bytes that are copied in the time of asking once
_PAGE = 4096
_SPAN = 2**20  # bytes copied at once of what lies apart: they stay in the processor's cache

COPIED = 2**25
"""Bytes of one value copied to look at it, at most."""


class Lent(Struct, frozen=True):
    """Where elements lie.

    Attributes:
        address: Of the first element.
        shape: As numpy has it.
        strides: In bytes.
        item: Bytes of one element.
        foreign: Whether the memory is known to be another's.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    item: int
    foreign: bool

    @property
    def size(self) -> int:
        """Bytes of all elements."""
        return prod(self.shape) * self.item

    def digest(self, walk: Walk) -> bytes:
        """Digest all elements, or a sample; 16 bytes.

        Raises:
            UnreadableError: the memory is gone, or is not to be looked at now.
        """
        self._ask(walk)
        if not walk.may_read(self.size, _SLOWER):
            return self.sample(*buffers.SAMPLE)
        return self.whole(walk)

    def whole(self, walk: Walk) -> bytes:
        """Digest all elements, whatever their number; 16 bytes. Raises as ``digest``."""
        hasher = xxh3_128()
        for piece in self.pieces(walk.charge):
            hasher.update(piece)
        return hasher.digest()

    def copied(self, walk: Walk) -> Any:
        """Copy all elements, as bytes in the order of their indices. Raises as ``digest``."""
        self._ask(walk)
        return self.copy()

    def _ask(self, walk: Walk) -> None:
        if self.foreign and not walk.budget.foreign:
            walk.exact = False
            raise UnreadableError("its memory is another's, and not read now")

    def copy(self, most: int | None = COPIED) -> Any:
        """Copy all elements, as bytes in the order of their indices.

        Args:
            most: How many bytes may be copied; None for any number.

        Raises:
            UnreadableError: the memory is gone, or there is more in it.
        """
        if most is not None and self.size > most:
            raise UnreadableError("too large to be copied from a memory that may be gone")
        import numpy as np

        return np.concatenate([np.array(piece, np.uint8) for piece in self.pieces(free)])

    def sample(self, blocks: int, block: int) -> bytes:
        """Digest a sample as ``buffers.sample`` does; 16 bytes."""
        count = prod(self.shape)
        each = min(max(1, block // self.item), count)
        starts = buffers.starts(count, blocks, each)
        if self._is_dense():
            places = [self.address + start * self.item for start in starts]
            return xxh3_128_digest(reading.blocks(places, each * self.item))
        return xxh3_128_digest(b"".join([self.take(start, each) for start in starts]))

    def pieces(self, charge: Callable[[int], None]) -> Iterator[memoryview]:
        """Copy the elements piece by piece, in the order of their indices.

        Args:
            charge: Told, in bytes, what a plain read would get through in the time of each.

        Yields:
            Bytes, which are good until the next are asked for.
        """
        if self._is_dense():
            for piece in reading.pieces(self.address, self.size):
                charge(_SLOWER * len(piece))
                yield piece
            return
        # Of rows that reach far, many at once: what lies beside one another is in several.
        most = reading.PIECE if self._part(0, 0).is_compact() else buffers.CHUNK
        if self.size <= most:
            yield memoryview(self._gathered(charge))
        else:
            length = self.shape[0]
            rows = max(1, length * most // self.size)
            for start in range(0, length, rows):
                count = min(rows, length - start)
                part = self._part(0, start) if count == 1 else self._cut(0, start, count)
                yield from part.pieces(charge)

    def _gathered(self, charge: Callable[[int], None]) -> Any:
        """Copy the elements at once, as bytes in the order of their indices."""
        import numpy as np

        return np.ascontiguousarray(self.gather(charge)).reshape(-1).view(np.uint8)

    # ----------------------------------------------------------------------------------------------

    def _is_dense(self) -> bool:
        """Tell whether the elements lie one after the other, in the order of their indices."""
        step = self.item
        for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if length != 1 and stride != step:
                return False
            step *= length
        return True

    def is_compact(self) -> bool:
        """Tell whether the memory that the elements reach over is worth copying as a whole."""
        low, high = extent(self.shape, self.strides, self.item)
        most = max(min(_DENSE * self.size, COPIED), _PAGE)
        # One by one, each takes as long as what lies up to the next.
        return high - low <= (max(most, _SPAN) if max(self._steps(), default=0) <= _APART else most)

    def _steps(self) -> list[int]:
        """Return how far apart the elements lie along each axis, in bytes."""
        return [
            abs(step) * (length > 1) for length, step in zip(self.shape, self.strides, strict=True)
        ]

    def _part(self, axis: int, index: int) -> Lent:
        """Return the elements that have an index on an axis."""
        address = self.address + index * self.strides[axis]
        shape, strides = (each[:axis] + each[axis + 1 :] for each in (self.shape, self.strides))
        return replace(self, address=address, shape=shape, strides=strides)

    def _cut(self, axis: int, start: int, count: int) -> Lent:
        """Return the elements whose index on an axis is one of so many."""
        address = self.address + start * self.strides[axis]
        shape = (*self.shape[:axis], count, *self.shape[axis + 1 :])
        return replace(self, address=address, shape=shape)

    def gather(self, charge: Callable[[int], None]) -> Any:
        """Copy the elements, with what lies between where that is little."""
        import numpy as np

        dtype = f"V{self.item}"
        if self.is_compact():
            low, high = extent(self.shape, self.strides, self.item)
            held = np.empty(high - low, np.uint8)
            reading.copy(self.address + low, address_of_array(held), high - low)
            charge(_CALL + _SLOWER * (high - low))
            return np.ndarray(self.shape, dtype, held.data, -low, self.strides)
        steps = self._steps()
        axis = steps.index(max(steps))
        length = self.shape[axis]
        # As many at once as may be copied with what lies between them, but fewer than all.
        many = min(max(1, _SPAN // steps[axis]), length // 2) if steps[axis] <= _APART else 1
        made = np.empty(self.shape, dtype)
        for index in range(0, length, many):
            part = self._cut(axis, index, min(many, length - index))
            at = (*[slice(None)] * axis, slice(index, index + many))
            made[at] = part.gather(charge)
        return made

    def take(self, start: int, count: int) -> bytes:
        """Copy ``count`` elements from the one of that number on."""
        row = prod(self.shape[1:])
        if len(self.shape) <= 1 or row == 1:
            return self._cut(0, start, count).all() if self.shape else self.all()
        first, ahead = divmod(start, row)
        if ahead or count < row:
            here = min(count, row - ahead)
            taken = self._part(0, first).take(ahead, here)
        else:
            here = count - count % row
            taken = self._cut(0, first, here // row).all()
        return taken + self.take(start + here, count - here) if here < count else taken

    def all(self) -> bytes:
        """Return all elements, in the order of their indices."""
        return bytes(self._gathered(free))


def free(_: int) -> None:
    """Charge nothing for what is read."""


def read_if_there(value: Any, walk: Walk, read: Callable[[Walk], bytes]) -> tuple[bytes, str]:
    """Read elements that may be gone; return also, as the end of a line, why they cannot be."""
    try:
        return read(walk), ""
    except UnreadableError as error:
        walk.unsee(full_name(type(value)))
        return b"unreadable", f", {error}"


def lent_array(value: Any) -> Lent | None:
    """Return where the elements of an array lie, if it is in a memory that may be gone."""
    owner = owner_of_array(value)
    if owner is Owner.LIBRARY:
        return None
    foreign = owner is Owner.OTHER
    return Lent(address_of_array(value), value.shape, value.strides, value.itemsize, foreign)


def lent_view(view: memoryview) -> Lent | None:
    """The same of a memoryview, which whoever calls keeps."""
    if owner_of_view(view) is Owner.LIBRARY or not view.nbytes:
        return None
    import numpy as np

    elements = np.frombuffer(view.cast("B"), np.uint8) if view.c_contiguous else np.asarray(view)
    address, strides = address_of_array(elements), elements.strides
    return Lent(address, elements.shape, strides, elements.itemsize, foreign=True)
