"""Small inputs of earlier runs, kept in memory for experiments."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping

from ipytorchseed.fingerprint.packing import Packed
from ipytorchseed.fingerprint.value import BELONGS, PENDING, SHARED, Fingerprint

# The most bytes of one input, and of all together.
LARGEST, ALL = 64 << 10, 16 << 20

# Bytes that an entry needs in addition to its content.
_COST = 200

Content = Packed | bytes

_MADE_FOR_ANOTHER = ("optimizer", "scheduler")


class KeptInputs:
    """Keeps inputs by digest in memory, and drops the least recently used first.

    Args:
        is_on: Returns whether the user has this on.
    """

    def __init__(self, is_on: Callable[[], bool]) -> None:
        self._is_on = is_on
        self._held: OrderedDict[str, Content | None] = OrderedDict()
        self._size = 0

    def add(self, digest: str, make: Callable[[], Content | None]) -> None:
        """Keep an input, unless it is already kept.

        Args:
            digest: The digest of its content.
            make: Returns a copy of it, or None if it is too large or cannot be copied safely.
        """
        if not self._is_on():
            self._held.clear()
            self._size = 0
        elif digest in self._held:
            self._held.move_to_end(digest)
        else:
            content = make()
            self._held[digest] = content  # also None, so that it is not tried again
            self._size += _size(content)
            while self._size > ALL:
                self._size -= _size(self._held.popitem(last=False)[1])

    def get(self, digest: str) -> Content | None:
        """Return the input with a digest, or None."""
        return self._held.get(digest)


def is_seen(value: Fingerprint) -> bool:
    """Return whether a digest covers all of a value's content."""
    return value.exact and not value.opaque and value.digest != "" and value.kind != PENDING


def tied(reads: Mapping[str, Fingerprint]) -> set[str]:
    """Return the variables that cannot be replaced by a copy.

    They share objects or memory with others, like an optimizer with its model.

    Args:
        reads: The fingerprints of what a run read, by name.
    """
    held = [value.parts.get(part, "") for value in reads.values() for part in (SHARED, BELONGS)]
    made_for = {name for name, value in reads.items() if value.kind in _MADE_FOR_ANOTHER}
    return made_for.union(*map(str.split, held))


def _size(content: Content | None) -> int:
    return _COST + (0 if content is None else len(content))
