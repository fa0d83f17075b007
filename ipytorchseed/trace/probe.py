"""Repeats one operation of a run, and finds reads of uninitialized memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ipytorchseed.fingerprint.elements import readable
from ipytorchseed.fingerprint.memory import UnreadableError
from ipytorchseed.fingerprint.native import Unseen, native, reads_natively
from ipytorchseed.trace.digests import digest_of_tensor
from ipytorchseed.trace.format import Place
from ipytorchseed.trace.operations import Overload

# How often the operation is repeated on a copy of its input.
_AGAIN = 8

# Bytes of input above which it is not repeated, because the copies would be as large.
_LARGEST = 2**31


class Memory(Struct):
    """Uninitialized memory that an operation such as ``empty`` returned.

    Attributes:
        operation: The operation's name.
        place: Its place.
        index: The number of operations recorded before it.
        left: Bytes that nothing has written to.
    """

    operation: str
    place: Place
    index: int
    left: int


class Probe(Struct):
    """Repeats one operation, or finds whose uninitialized memory it reads.

    Args:
        operation: The name of the operation to look at.
        place: Its place.
        count: How many of the same name come before it at the same place.
        repeats: Whether to repeat it.

    Attributes:
        runs: How often the operation ran on the same input.
        results: How many different results that gave.
        apart: The largest difference between two of its results; None if unknown.
        unwritten: The memory that it read and nothing had written.
    """

    operation: str = ""
    place: Place | None = None
    count: int = 0
    repeats: bool = False
    runs: int = 0
    results: int = 0
    apart: float | None = None
    unwritten: Memory | None = None
    _memory: dict[int, Memory] = {}
    _met: int = 0

    @property
    def left(self) -> list[Memory]:
        """Memory that was never written to."""
        return [*self._memory.values()]

    def before(
        self,
        func: Any,
        operation: Overload,
        place: Place,
        args: tuple[Any, ...],
        given: Mapping[str, Any],
    ) -> None:
        """Look at an operation that is about to run."""
        if operation.name != self.operation or place != self.place:
            return
        self._met += 1
        if self._met == self.count + 1:
            known = (self._memory.get(_address(each)) for each in _tensors([args, given]))
            self.unwritten = next(filter(None, known), None)
            if self.repeats:
                self._repeat(func, args, given)

    def _repeat(self, func: Any, args: tuple[Any, ...], given: Mapping[str, Any]) -> None:
        """Run the operation on copies of its input, and compare."""
        import torch
        from torch.utils._pytree import tree_map_only

        at = native()
        read = _tensors([args, given])
        if sum(at.numel(each) * at.element_size(each) for each in read) > _LARGEST:
            return
        digest = digest_of_tensor()
        seen: set[tuple[int, ...]] = set()
        first: list[Any] = []
        largest = 0.0
        for _ in range(_AGAIN):
            try:
                copies, named = tree_map_only(torch.Tensor, _clone, (args, dict(given)))
            except UnreadableError:  # released meanwhile: the operation itself will raise
                return
            result = func(*copies, **named)
            written = _tensors([result, copies, named])
            seen.add(tuple(map(digest, written)))
            if first:
                largest = max([largest, *map(_distance, first, written)])
            else:
                first = written
        self.runs, self.results = _AGAIN, len(seen)
        self.apart = largest if len(seen) > 1 else None

    def after(  # noqa: PLR0913, PLR0917 -- as above
        self,
        operation: Overload,
        place: Place,
        index: int,
        args: tuple[Any, ...],
        given: Mapping[str, Any],
        result: Any,
    ) -> None:
        """Follow the memory that an operation returned or wrote."""
        at = native()
        if operation.unwritten:
            for each in _tensors([result]):
                if at.device(each).type != "meta" and at.layout(each) is at.strided:
                    size = at.numel(each) * at.element_size(each)
                    self._memory[_address(each)] = Memory(operation.name, place, index, size)
            return
        if not self._memory or operation.view:
            return
        for each in _tensors([operation.changes(args, given), result]):
            known = self._memory.get(_address(each))
            if known is not None:
                known.left -= at.numel(each) * at.element_size(each)
                if known.left <= 0:
                    del self._memory[_address(each)]


def _address(tensor: Any) -> int:
    with Unseen():
        at = native()
        return (
            0 if at.layout(tensor) is not at.strided else int(at.untyped_storage(tensor).data_ptr())
        )


def _tensors(values: list[Any]) -> list[Any]:
    import torch
    from torch.utils._pytree import tree_leaves

    return [each for each in tree_leaves(values) if isinstance(each, torch.Tensor)]


def _clone(tensor: Any) -> Any:
    at = native()
    plain = reads_natively(type(tensor)) and at.layout(tensor) is at.strided
    return (readable(tensor) if plain and not at.is_nested(tensor) else tensor).clone()


def _distance(one: Any, other: Any) -> float:
    """Return the largest difference between two tensors."""
    import torch

    if one.shape != other.shape or not one.numel():
        return 0.0
    if one.is_complex():
        one, other = torch.view_as_real(one), torch.view_as_real(other)
    apart = (one.double() - other.double()).abs()
    return float(apart.nan_to_num(nan=0.0, posinf=0.0).max())
