"""Stores small inputs of earlier runs in memory, for experiments."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping

from ipytorchseed.fingerprint.packing import Packed
from ipytorchseed.fingerprint.value import BELONGS, PENDING, SHARED, Fingerprint

# The maximum size of one input, and of all inputs together, in bytes.
LARGEST, ALL = 64 << 10, 16 << 20

# The size of an entry without its content, in bytes.
_COST = 200

Content = Packed | bytes

_MADE_FOR_ANOTHER = ("optimizer", "scheduler")


class KeptInputs:
    """A cache of inputs by digest, which drops the least recently used first.

    Args:
        is_on: Returns whether the user allows it.
    """

    def __init__(self, is_on: Callable[[], bool]) -> None:
        self._is_on = is_on
        self._held: OrderedDict[str, Content | None] = OrderedDict()
        self._size = 0

    def add(self, digest: str, make: Callable[[], Content | None]) -> None:
        """Store an input, unless it is already stored.

        Args:
            digest: The digest of the input.
            make: Returns a copy of the input, or None if the input is too large or cannot be copied
                without running user code.
        """
        if not self._is_on():
            self._held.clear()
            self._size = 0
        elif digest in self._held:
            self._held.move_to_end(digest)
        else:
            content = make()
            self._held[digest] = content  # None too, so that it is not tried again
            self._size += _COST + len(content or b"")
            while self._size > ALL:
                self._size -= _COST + len(self._held.popitem(last=False)[1] or b"")

    def get(self, digest: str) -> Content | None:
        """Return the input with this digest, or None."""
        return self._held.get(digest)


def is_seen(value: Fingerprint) -> bool:
    """Return whether a fingerprint's digest represents all of the value's content."""
    return value.exact and not value.opaque and value.digest != "" and value.kind != PENDING


def tied(reads: Mapping[str, Fingerprint]) -> set[str]:
    """Return the variables that cannot be replaced by a copy.

    They share objects or memory with other variables, as an optimizer does with its model.

    Args:
        reads: The fingerprints of the variables that a run read.
    """
    held = [value.parts.get(part, "") for value in reads.values() for part in (SHARED, BELONGS)]
    made_for = {name for name, value in reads.items() if value.kind in _MADE_FOR_ANOTHER}
    return made_for.union(*map(str.split, held))
