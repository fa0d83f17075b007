"""Caches what is known of values that did not change since they were last read."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

Proof = tuple[object, ...]

_FASTEST = 25e9  # what one core can read where memory is fast, until it is known here
_FEW = 1024  # entries before the dead ones are looked for
_MORE = 2  # times the time that did not suffice, from which on another try is worth it


class Known(Struct, frozen=True):
    """A tensor that was read in full.

    Attributes:
        handle: torch's own weak reference to its memory.
        proof: Where and how its elements lie, and how often they were written to.
        sample: Digest of a few of its bytes.
        digest: Digest of all of them, 16 bytes.
    """

    handle: Any
    proof: Proof
    sample: bytes
    digest: bytes


class Memo:
    """Digests of tensors, by weak reference: it keeps nothing of the user's alive.

    A large tensor is not read again where all of this holds:

    * it is the same tensor, at the same address, with the same shape, strides and dtype;
    * torch has counted no write to it (``Tensor._version``);
    * no other tensor shares its memory now: that one's writes may be counted apart;
    * some two thousand bytes, spread evenly over it, are the same: torch does not count writes
      through ``.data``, through a numpy array or in a process that shares the memory, or in
      inference mode;
    * ``Budget.reread`` (16 MiB) is used up by other known tensors: up to there they are read in
      full all the same.

    So one change can pass unseen: an uncounted write that misses every sampled byte of a tensor
    that lies beyond the first 16 MiB of a round. Tensors without a version counter (made in
    inference mode), those that are not dense, and numpy arrays are always read.

    A weak reference to a tensor, Python's or torch's, would make ``torch.utils.swap_tensors``
    refuse it, and with it some ways of ``Module.to``; hence one to its memory, which disturbs
    nothing. As long as it stands, no other memory can be taken for this.

    Besides, it knows which values took too long to be read whole, so that they are sampled at
    once the next time, and what the samples of those read whole are.

    Attributes:
        speed: Bytes a second at which large buffers were read, the last time.
    """

    def __init__(self) -> None:
        self.speed = _FASTEST
        self._tensors: dict[tuple[int, int], Known] = {}
        self._limit = _FEW
        self._refused: dict[int, float] = {}
        self._samples: dict[bytes, str] = {}

    def refuses(self, value: object, seconds: float) -> bool:
        """Return whether reading a value whole took too long before, and there is no more time now.

        Known by its address: where another value has come there, that one is tried a look later.
        """
        return self._refused.get(id(value), 0.0) * _MORE > seconds

    def refuse(self, value: object, seconds: float) -> None:
        """Note that reading a value whole takes longer than ``seconds``."""
        if len(self._refused) >= _FEW:
            self._refused.clear()
        self._refused[id(value)] = seconds

    def sample(self, digest: bytes) -> str | None:
        """Return the sample's digest of a large value that was read whole, by that digest."""
        return self._samples.get(digest)

    def keep_sample(self, digest: bytes, sample: str) -> None:
        """Remember it: the content is the same, and so is a sample of it."""
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
        """Remember a tensor that was read in full, by its storage; the rest as above."""
        from torch.multiprocessing.reductions import StorageWeakRef

        if len(self._tensors) >= self._limit:
            self._tensors = {k: v for k, v in self._tensors.items() if not v.handle.expired()}
            self._limit = max(_FEW, 2 * len(self._tensors))
        handle: Any = StorageWeakRef(storage)
        self._tensors[identity] = Known(handle, proof, sample, digest)
