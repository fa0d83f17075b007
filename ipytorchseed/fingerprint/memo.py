"""Caches fingerprints of values that did not change since they were last read."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

Proof = tuple[object, ...]

_FASTEST = 25e9  # the speed of one core with fast memory, until it is measured here
_FEW = 1024  # entries before dead ones are removed
_MORE = 2  # retry if there is this much more time than before


class Known(Struct, frozen=True):
    """A tensor that was read in full.

    Attributes:
        handle: torch's own weak reference to its memory.
        proof: Its address and layout, and its write counter.
        sample: Digest of a few of its bytes.
        digest: Digest of all of them, 16 bytes.
    """

    handle: Any
    proof: Proof
    sample: bytes
    digest: bytes


class Memo:
    """Digests of tensors, by weak reference: it keeps no user object alive.

    Attributes:
        speed: Bytes a second at which large buffers were read, the last time.
    """

    def __init__(self) -> None:
        self.speed = _FASTEST
        self._tensors: dict[tuple[int, int], Known] = {}
        self._limit = _FEW
        self._refused: dict[int, float] = {}
        self._samples: dict[bytes, str] = {}

    def is_too_slow(self, value: object, seconds: float) -> bool:
        """Return whether a value took too long before, and there is no more time now.

        It is identified by its address; a new value at the same address is read one look later.
        """
        return self._refused.get(id(value), 0.0) * _MORE > seconds

    def mark_too_slow(self, value: object, seconds: float) -> None:
        """Record that reading a value whole takes longer than ``seconds``."""
        if len(self._refused) >= _FEW:
            self._refused.clear()
        self._refused[id(value)] = seconds

    def sample(self, digest: bytes) -> str | None:
        """Return the sample's digest of a large value with that digest."""
        return self._samples.get(digest)

    def keep_sample(self, digest: bytes, sample: str) -> None:
        """Store the sample's digest of a value."""
        if len(self._samples) >= _FEW:
            self._samples.clear()
        self._samples[digest] = sample

    def tensor(self, identity: tuple[int, int], proof: Proof) -> Known | None:
        """Return the cached fingerprint of a tensor, if ``proof`` still holds.

        Args:
            identity: The addresses of torch's objects for its memory and for itself.
            proof: As in ``Known``.
        """
        known = self._tensors.get(identity)
        return known if known is not None and known.proof == proof else None

    def keep_tensor(
        self, storage: object, identity: tuple[int, int], proof: Proof, sample: bytes, digest: bytes
    ) -> None:
        """Store a tensor that was read in full; the arguments are as above."""
        from torch.multiprocessing.reductions import StorageWeakRef

        if len(self._tensors) >= self._limit:
            self._tensors = {k: v for k, v in self._tensors.items() if not v.handle.expired()}
            self._limit = max(_FEW, 2 * len(self._tensors))
        handle: Any = StorageWeakRef(storage)
        self._tensors[identity] = Known(handle, proof, sample, digest)
