"""Digests all bits of the inputs and results of operations."""

from __future__ import annotations

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
# The digest of a tensor that cannot be read: it has no memory, or wraps other tensors.
UNSEEN = 1


@cache
def digest_of_tensor(*, portable: bool = False) -> Callable[[Any], int]:
    """Return the function that digests a tensor's dtype, shape and bits.

    Equal tensors have equal digests in every process, whatever their memory layout.

    Args:
        portable: Whether digests must be equal on all devices. Otherwise, large tensors on a GPU
            are digested there, without a copy.
    """
    at = native()
    numel, address, contiguous, shape = at.numel, at.data_ptr, at.is_contiguous, at.shape
    dtype, layout, strided, plain = at.dtype, at.layout, at.strided, at.plain
    neg, nested = at.is_neg, at.is_nested
    storage, shared, resizable = at.untyped_storage, at.is_shared, at.resizable
    on_cpu = sys.modules["torch"]._C.TensorBase.__dict__["is_cpu"].__get__  # noqa: SLF001 -- fastest
    sizes_of, nothing = _plain_sizes(), (0, 0)
    hashed = xxh3_64_intdigest

    def digest(tensor: Any) -> int:
        if id(type(tensor)) not in plain and not reads_natively(type(tensor)):
            return UNSEEN
        size, kind = sizes_of.get(dtype(tensor), nothing)
        if (
            size == 0
            or layout(tensor) is not strided
            or not on_cpu(tensor)
            or neg(tensor)
            or nested(tensor)
            or not contiguous(tensor)
        ):
            return _other(tensor, portable=portable)
        where, held = address(tensor), storage(tensor)
        if where == 0 or shared(held) or not resizable(held):  # empty, shared or of another owner
            return _other(tensor, portable=portable)
        return hashed(view(where, numel(tensor) * size), hash((shape(tensor), kind)) & MASK)

    return digest


@cache
def kind_number(kind: Any) -> int:  # torch.dtype
    """Return a hash of a dtype that is the same in every process."""
    return xxh3_64_intdigest(str(kind).encode())


def _plain_sizes() -> dict[Any, tuple[int, int]]:
    """Return the element size and hash of each dtype whose memory is hashed directly.

    Complex dtypes are excluded because tensors may be conjugated lazily, quantized dtypes because
    tensors also have a scale.
    """
    torch: Any = sys.modules["torch"]
    dtypes = {each for each in vars(torch).values() if isinstance(each, torch.dtype)}
    return {
        each: (each.itemsize, kind_number(each))
        for each in dtypes
        if not each.is_complex and not str(each).startswith("torch.q")
    }


def _other(tensor: Any, *, portable: bool) -> int:
    """Digest a tensor whose memory cannot be hashed directly."""
    at = native()
    with Unseen():
        tensor = at.detach(tensor)
        if at.is_nested(tensor) or at.layout(tensor) is not at.strided:
            return hash(tuple(map(digest_of_tensor(portable=portable), made_of(tensor))))
        head = at.shape(tensor), kind_number(at.dtype(tensor))
        device, size = at.device(tensor).type, at.numel(tensor) * at.element_size(tensor)
        if device == "meta" or size == 0:
            return hash((*head, int(size > 0)))
        try:
            readable(tensor)
        except UnreadableError:
            return UNSEEN
        if is_captured(device) or not has_memory(tensor):
            return UNSEEN
        tensor = bits(tensor.resolve_conj().resolve_neg())
        if size > ON_HOST and device in DEVICES and not portable:
            digest = digest_on_device(tensor, lambda _: None)
            return hash((*head, int.from_bytes(digest, "little")))
        copy = tensor.cpu().contiguous()
        return xxh3_64_intdigest(view(at.data_ptr(copy), size), hash(head) & MASK)


def plain_digest(words: list[Any]) -> int:
    """Return a digest of arguments that are not tensors, equal in every process."""
    return xxh3_64_intdigest("\n".join(map(word_of, words)).encode("utf-8", "surrogatepass"))


_NUMBERS = (int, float, complex, str, bool, type(None))


def word_of(value: Any) -> str:
    """Return an argument that is not a tensor as text.

    For most objects, this is only the class. The name of a device is left out, so that runs on
    different devices can be compared.
    """
    if type(value) in _NUMBERS:
        return repr(value)
    torch = sys.modules["torch"]
    shown = isinstance(value, (torch.dtype, torch.layout, torch.memory_format))
    return str(value) if shown else type(value).__name__
