"""Copies the memory of tensors and arrays. Views of one memory stay views."""

from __future__ import annotations

import gc
import sys
import types
from bisect import bisect_right, insort
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ipytorchseed.fingerprint import Budget, fingerprint, memory
from ipytorchseed.fingerprint.elements import has_memory, is_borrowed, is_plain, made_of
from ipytorchseed.fingerprint.native import native, reads_natively

_MOST = 4096  # objects visited to find the memory that a value refers to


# A device, and an address in its memory.
Place = tuple[str, int]


class Block(Struct, eq=False):
    """A copied block of memory.

    Attributes:
        size: The size in bytes.
        owner: The owner of the original memory, kept alive so that its address is not reused.
        storage: The copy as a torch storage, if the block was copied for a tensor.
        array: The copy as an array of bytes, if the block was copied for an array.
    """

    size: int
    owner: object
    storage: Any = None
    array: Any = None

    def data(self) -> Any:
        """Return the copy as an array of bytes. Afterwards, torch cannot resize it."""
        if self.array is None:
            torch = sys.modules["torch"]
            seen = torch.empty(0, dtype=torch.uint8, device="cpu").set_(self.storage)
            self.array = seen.numpy()
        return self.array


class Memories:
    """Copies of memory blocks, by device and by the address of the original.

    Args:
        limit: The maximum number of bytes to copy. With a limit, only memory on the CPU is copied.
            None for no limit and any device.
        reached: Called with the copied block of each tensor and array.
    """

    def __init__(self, limit: int | None, reached: Callable[[Block], None]) -> None:
        self._reached = reached
        self._blocks: dict[Place, Block] = {}
        self._places: list[Place] = []  # in order
        self._limit = limit
        self._copied = 0

    def tensor(self, value: Any) -> Any:
        """Return a copy of a tensor as a leaf, or None if it has no plain memory."""
        torch = sys.modules["torch"]
        storage = value.untyped_storage() if is_plain(value) else None
        if storage is None or value.device.type == "meta" or storage.data_ptr() == 0:
            return None
        place, size = (str(value.device), storage.data_ptr()), storage.nbytes()
        block, ahead = self._find(place, size)
        if block is None:
            self._count(size, value.device.type)
            block = self._add(place, Block(size, storage, _clone(storage)))
        self._reached(block)
        made = torch.empty(0, dtype=value.dtype, device=value.device)
        if block.storage is not None and ahead % value.element_size() == 0:
            offset = value.storage_offset() + ahead // value.element_size()
            return made.set_(block.storage, offset, value.size(), value.stride())
        part = torch.from_numpy(block.data()[ahead : ahead + size]).untyped_storage()
        return made.set_(part, value.storage_offset(), value.size(), value.stride())

    def array(self, value: Any) -> Any:
        """Copy a numpy array."""
        import numpy as np

        owner = value
        while type(owner.base) is np.ndarray:
            owner = owner.base
        borrowed = bool(value.nbytes) and not memory.owns_array(value)
        if borrowed:
            memory.require(value)
        dense = owner.flags.c_contiguous or owner.flags.f_contiguous
        if not owner.nbytes or not dense or (borrowed and not memory.is_inside(value, owner)):
            return value.copy(order="K")
        place = "cpu", memory.address_of_array(owner)
        block, ahead = self._find(place, owner.nbytes)
        if block is None:
            self._count(owner.nbytes, "cpu")
            if borrowed:
                memory.require(owner)
            copy = owner.copy(order="K")
            data = copy.reshape(-1, order="A").view(np.uint8)
            block = self._add(place, Block(owner.nbytes, owner, array=data))
            self._reached(block)
            if value is owner:
                copy.flags.writeable = value.flags.writeable
                return copy
        self._reached(block)
        ahead += memory.address_of_array(value) - place[1]
        made = np.ndarray(value.shape, value.dtype, block.data().data, ahead, value.strides)
        made.flags.writeable = value.flags.writeable
        return made

    def _find(self, place: Place, size: int) -> tuple[Block | None, int]:
        """Return the copied block that contains a memory range, and the offset in it.

        Args:
            place: The device, and the first address of the range.
            size: The length of the range, in bytes.
        """
        index = bisect_right(self._places, place) - 1
        if index >= 0:
            (device, begin), ahead = self._places[index], place[1] - self._places[index][1]
            block = self._blocks[device, begin]
            if device == place[0] and ahead + size <= block.size:
                return block, ahead
        return None, 0

    def _add(self, place: Place, block: Block) -> Block:
        if place not in self._blocks:
            insort(self._places, place)
        self._blocks[place] = block
        return block

    def _count(self, size: int, device: str) -> None:
        """Count bytes before they are copied.

        Raises:
            UnreadableError: With a limit, the bytes exceed it or are not on the CPU.
        """
        self._copied += size
        if self._limit is not None and device != "cpu":
            raise memory.UnreadableError(f"it is on a device: {device}")
        if self._limit is not None and self._copied > self._limit:
            raise memory.UnreadableError(f"more than {self._limit >> 20} MB would be copied")


def _clone(storage: Any) -> Any:
    """Copy a storage to new memory.

    Raises:
        UnreadableError: The memory of the storage was released.
    """
    if storage.device.type == "cpu" and not memory.owns_storage(storage):
        import numpy as np

        held = memory.view(storage.data_ptr(), storage.nbytes())
        memory.require(np.frombuffer(held, np.uint8))
    return storage.clone()


def make_sure(value: object) -> None:
    """Check that a library can read the memory of a value.

    Raises:
        UnreadableError: Some of the memory was released.
    """
    waiting: list[object] = [value]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        each = waiting.pop()
        if id(each) in seen or issubclass(type(each), _CODE):
            continue
        seen.add(id(each))
        waiting += gc.get_referents(each)
        gone = _is_gone(each)
        if not gone and _is_in_foreign_memory(each):
            found = fingerprint(each, budget=Budget(float("inf")))
            gone = found.opaque or "unseen" in found.parts
        if gone:
            raise memory.UnreadableError("its memory was released")


_CODE = (type, types.ModuleType, types.FunctionType)


def _is_gone(value: Any) -> bool:
    """Return whether a tensor's memory was released, for example by ``resize_(0)``."""
    if not reads_natively(type(value)) or value.device.type == "meta":
        return False
    at = native()
    plain = at.layout(value) is at.strided and not at.is_nested(value)
    parts = [value] if plain else made_of(value)
    return any(at.numel(each) and not has_memory(each) for each in parts)


def _is_in_foreign_memory(value: Any) -> bool:
    """Return whether a value may use memory that it does not own.

    Such memory may be unmapped.
    """
    kind = type(value)
    numpy: Any = sys.modules.get("numpy")
    torch: Any = sys.modules.get("torch")
    if numpy is not None and issubclass(kind, (numpy.ndarray, numpy.void)):
        return not memory.owns_array(numpy.asarray(value))
    if not hasattr(torch, "nn"):
        return False
    if issubclass(kind, torch.UntypedStorage):
        return value.device.type == "cpu" and not memory.owns_storage(value)
    if not issubclass(kind, torch.Tensor):
        return False
    known = reads_natively(kind) and value.layout is torch.strided and not value.is_quantized
    return is_borrowed(value) if known else True
