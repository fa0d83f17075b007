"""Digests of the inputs and results of each operation, over all their bits."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from xxhash import xxh3_64_intdigest

from ipytorchseed.fingerprint.device import DEVICES, ON_HOST, digest_on_device, is_captured
from ipytorchseed.fingerprint.elements import bits, has_memory, made_of, readable
from ipytorchseed.fingerprint.memory import UnreadableError, view
from ipytorchseed.fingerprint.native import Unseen, native, reads_natively

MASK = 2**64 - 1
# The digest of what cannot be read: a tensor without memory, or a wrapper of others.
UNSEEN = 1


@cache
def digest_of_tensor(*, portable: bool = False) -> Callable[[Any], int]:
    """Return the function that digests a tensor's dtype, shape and bits.

    Equal tensors have equal digests in every process.

    Args:
        portable: Make digests equal in any memory layout and on any device, which may need a
            copy. Otherwise unusual strides are part of the digest, so that nothing is copied, and
            a tensor on a GPU is digested there.
    """
    at = native()
    numel, address, contiguous, shape = at.numel, at.data_ptr, at.is_contiguous, at.shape
    dtype, strides, layout, strided, plain = at.dtype, at.stride, at.layout, at.strided, at.plain
    neg, nested = at.is_neg, at.is_nested
    storage, shared, resizable = at.untyped_storage, at.is_shared, at.resizable
    on_cpu = sys.modules["torch"]._C.TensorBase.__dict__["is_cpu"].__get__  # noqa: SLF001 -- as native
    sizes_of = _plain_sizes()
    hashed = xxh3_64_intdigest

    def digest(tensor: Any) -> int:  # noqa: PLR0911 -- one for each kind, the usual last
        if id(type(tensor)) not in plain and not reads_natively(type(tensor)):
            return UNSEEN
        size, kind = sizes_of.get(dtype(tensor), _NONE)
        if (
            size == 0
            or layout(tensor) is not strided
            or not on_cpu(tensor)
            or neg(tensor)
            or nested(tensor)
        ):
            return _other(tensor, portable=portable)
        count = numel(tensor)
        sizes = shape(tensor)
        if count == 0:
            return hash((sizes, kind, 0))
        where = address(tensor)
        if where == 0:
            return UNSEEN
        held = storage(tensor)
        if (shared(held) or not resizable(held)) and not _is_there(tensor):
            return UNSEEN
        if contiguous(tensor):
            return hashed(view(where, count * size), hash((sizes, kind)) & MASK)
        steps = strides(tensor)
        span = _span(sizes, steps)
        if not portable and span <= count:  # without gaps, which would not be the tensor's
            return hashed(view(where, span * size), hash((sizes, steps, kind)) & MASK)
        return _copied(tensor)

    return digest


def _span(sizes: tuple[int, ...], steps: tuple[int, ...]) -> int:
    """Return how many elements the memory of a tensor spans."""
    span = 1
    for length, step in zip(sizes, steps, strict=True):
        span += (length - 1) * step
    return span


def _is_there(tensor: Any) -> bool:
    """Return whether the memory of a tensor can be read."""
    try:
        readable(tensor)
    except UnreadableError:
        return False
    return has_memory(tensor)


@cache
def kind_number(kind: Any) -> int:  # torch.dtype
    """Return a hash of a dtype that is the same in every process."""
    return xxh3_64_intdigest(str(kind).encode())


_NONE = 0, 0


def _plain_sizes() -> dict[Any, tuple[int, int]]:
    """Return element size and number of each dtype that can be hashed directly.

    Not complex ones, which may be conjugated lazily, and not quantized ones, which have a scale.
    """
    torch: Any = sys.modules["torch"]
    dtypes = {each for each in vars(torch).values() if isinstance(each, torch.dtype)}
    quantized = {getattr(torch, name, None) for name in ("qint8", "quint8", "qint32", "quint4x2",
                                                         "quint2x4")}  # fmt: skip
    plain = (each for each in dtypes - quantized if not each.is_complex)
    return {each: (each.itemsize, kind_number(each)) for each in plain}


def _copied(tensor: Any) -> int:
    """Digest a tensor with gaps between its elements, by a copy."""
    at = native()
    if not has_memory(tensor):
        return UNSEEN
    head = hash((at.shape(tensor), kind_number(at.dtype(tensor)))) & MASK
    with Unseen():
        copy = bits(tensor).cpu().contiguous()
        return xxh3_64_intdigest(
            view(at.data_ptr(copy), at.numel(copy) * at.element_size(copy)), head
        )


def _other(tensor: Any, *, portable: bool) -> int:
    """Digest a tensor of another layout or device."""
    at = native()
    head = at.shape(tensor), kind_number(at.dtype(tensor))
    if at.device(tensor).type == "meta":
        return hash((*head, 1))
    with Unseen():
        tensor = at.detach(tensor)
        if at.is_nested(tensor) or at.layout(tensor) is not at.strided:
            return hash(tuple(map(digest_of_tensor(portable=portable), made_of(tensor))))
        if at.numel(tensor) == 0:
            return hash((*head, 0))
        if is_captured(at.device(tensor).type) or not _is_there(tensor):
            return UNSEEN
        tensor = tensor.resolve_conj().resolve_neg()
        small = at.numel(tensor) * at.element_size(tensor) <= ON_HOST
        if portable or small or at.device(tensor).type not in DEVICES:
            return _copied(tensor)
        digest = digest_on_device(bits(tensor), lambda _: None)
        return hash((*head, int.from_bytes(digest, "little")))


def plain_digest(words: list[Any]) -> int:
    """Digest arguments that are not tensors, equally in every process.

    Their bytes are hashed, because ``hash(-1) == hash(-2)``. An object's address is left out.
    """
    try:
        return xxh3_64_intdigest(marshal.dumps(words, 2))
    except ValueError:
        return xxh3_64_intdigest(b"".join([_word(each) for each in words]))


_NUMBERS = (int, float, complex, str, bool, type(None))


def _word(value: Any) -> bytes:
    if type(value) not in _NUMBERS:
        value = word_of(value)
    return marshal.dumps(value, 2)


def word_of(value: Any) -> str:
    """Return an argument that is not a tensor as text.

    The name of a device is left out, so that runs on different devices can be compared.
    """
    torch = sys.modules["torch"]
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return str(value)
    return repr(value) if type(value) in _NUMBERS else type(value).__name__
