"""Caches digests of tensors, so that unchanged tensors are not read again."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

Proof = tuple[object, ...]

_FEW = 1024  # the number of entries at which dead ones are removed
_MORE = 2  # try a slow value again if there is this many times as much time


class Known(Struct, frozen=True):
    """The cached digest of a tensor.

    Attributes:
        handle: torch's weak reference to the tensor's storage.
        proof: The address, layout and version counter of the tensor when it was read. If they are
            the same later, torch did not write to the tensor since.
        sample: The digest of a few bytes of the tensor.
        digest: The digest of all bytes of the tensor, 16 bytes.
    """

    handle: Any
    proof: Proof
    sample: bytes
    digest: bytes


class Memo:
    """Digests of tensors, without strong references to them.

    Attributes:
        samples: The digests of samples of large values, by the values' digests.
    """

    def __init__(self) -> None:
        self._tensors: dict[tuple[int, int], Known] = {}
        self._limit = _FEW
        self._refused: dict[int, float] = {}
        self.samples: dict[bytes, str] = {}

    def is_too_slow(self, value: object, seconds: float) -> bool:
        """Return whether reading a value took too long before, and would do so again.

        Values are identified by ``id``, so a new value may be mistaken for an old one once.

        Args:
            value: The value to read.
            seconds: The time that is left for reading it.
        """
        return self._refused.get(id(value), 0.0) * _MORE > seconds

    def mark_too_slow(self, value: object, seconds: float) -> None:
        """Record that reading a value whole takes longer than ``seconds``."""
        if len(self._refused) >= _FEW:
            self._refused.clear()
        self._refused[id(value)] = seconds

    def keep_sample(self, digest: bytes, sample: str) -> None:
        """Store the digest of a sample of a large value."""
        if len(self.samples) >= _FEW:
            self.samples.clear()
        self.samples[digest] = sample

    def tensor(self, identity: tuple[int, int], proof: Proof) -> Known | None:
        """Return the cached entry of a tensor, or None if the tensor has changed.

        Args:
            identity: The addresses of the C++ objects of the tensor's storage and the tensor.
            proof: See ``Known``.
        """
        known = self._tensors.get(identity)
        return known if known is not None and known.proof == proof else None

    def keep_tensor(
        self, storage: object, identity: tuple[int, int], proof: Proof, sample: bytes, digest: bytes
    ) -> None:
        """Store the digest of a tensor that was read in full.

        Args:
            storage: The tensor's storage.
            identity: See ``tensor``.
            proof: See ``Known``.
            sample: See ``Known``.
            digest: See ``Known``.
        """
        from torch.multiprocessing.reductions import StorageWeakRef

        if len(self._tensors) >= self._limit:
            self._tensors = {k: v for k, v in self._tensors.items() if not v.handle.expired()}
            self._limit = max(_FEW, 2 * len(self._tensors))
        handle: Any = StorageWeakRef(storage)
        self._tensors[identity] = Known(handle, proof, sample, digest)
