"""The elements of tensors: dtype, shape, device and bits, in index order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct
from xxhash import xxh3_128_digest

from ipytorchseed.fingerprint import memory
from ipytorchseed.fingerprint.device import DEVICES, ON_HOST, digest_on_device, settle, take, warm
from ipytorchseed.fingerprint.memory import UnreadableError, extent, owns_storage, require
from ipytorchseed.fingerprint.meter import Mode
from ipytorchseed.fingerprint.native import native
from ipytorchseed.fingerprint.walk import Walk
from ipytorchseed.introspection.anatomy import anatomy

# Larger tensors are cached. Reading a smaller tensor is as fast as checking the cache.
_WORTH_KNOWING = 2**16

_UNREADABLE = b"freed"  # the memory was released, as FSDP does with ``resize_(0)``


# --------------------------------------------------------------------------------------------------
# Elements


def contents(walk: Walk, tensor: Any, *, with_grad_flag: bool = True) -> bytes:
    """Digest a tensor, or mark it as unseen if its memory was released.

    Args:
        walk: The current walk.
        tensor: A tensor of a class for which ``reads_natively`` is true.
        with_grad_flag: Whether ``requires_grad`` is part of the content.

    Returns:
        16 bytes, or ``~`` if the sample is full.
    """
    if walk.full:
        return b"~"
    walk.tick()
    try:
        return read_contents(walk, tensor, with_grad_flag=with_grad_flag)
    except UnreadableError:
        walk.mark_unseen(anatomy(type(tensor)).name)
        return xxh3_128_digest(_UNREADABLE)


def read_contents(walk: Walk, tensor: Any, *, with_grad_flag: bool = True) -> bytes:
    """Digest a tensor; 16 bytes.

    Args:
        walk: The current walk.
        tensor: A tensor of a class for which ``reads_natively`` is true.
        with_grad_flag: Whether ``requires_grad`` is part of the content.

    Raises:
        UnreadableError: Its memory was released.
    """
    at = native()
    nested = at.is_nested(tensor)
    shape = None if nested else at.shape(tensor)
    layout, device = at.layout(tensor), at.device(tensor)
    flagged = with_grad_flag and at.requires_grad(tensor)
    head, device = _head(at.dtype(tensor), shape, device, layout, flagged)
    if device == "meta":
        return xxh3_128_digest(head + b"meta")
    if nested or layout is not at.strided:
        tensor = at.detach(tensor)
        if layout is sys.modules["torch"].sparse_coo:
            head += b"%d" % tensor.is_coalesced()
        return xxh3_128_digest(head + b"".join([contents(walk, it) for it in made_of(tensor)]))
    if at.is_quantized(tensor):
        head += _quantizer(tensor).encode()
    size = at.numel(tensor) * at.element_size(tensor)
    if size == 0:
        return xxh3_128_digest(head)
    if not at.is_contiguous(tensor):
        walk.strides.append(str(at.stride(tensor)))
    return xxh3_128_digest(head + _elements(walk, tensor, size, device))


@lru_cache(maxsize=4096)
def _head(dtype: Any, shape: Any, device: Any, layout: Any, grad: Any) -> tuple[bytes, str]:
    """Encode the metadata of a tensor, and return it with the device type."""
    sizes = None if shape is None else (*shape,)
    return f"{dtype} {sizes} {device.type} {layout} {grad:d}".encode(), device.type


def dtype_of(tensor: Any) -> str:
    """Return the name of a tensor's dtype, such as ``float32``."""
    return str(native().dtype(tensor)).removeprefix("torch.")


def _elements(walk: Walk, tensor: Any, size: int, device: str) -> bytes:
    at = native()
    if not has_memory(tensor):
        return _UNREADABLE
    if device in DEVICES and at.device(tensor) not in walk.settled:
        settle(at.device(tensor), walk.budget)
        walk.settled.add(at.device(tensor))
    if at.is_conj(tensor) or at.is_neg(tensor):
        own = readable(tensor).resolve_conj().resolve_neg()
        return Elements(own, size, device, borrowed=False).digest(walk)
    elements = Elements(tensor, size, device, borrowed=is_borrowed(tensor))
    if size <= _WORTH_KNOWING or walk.mode is Mode.SAMPLE or at.is_inference(tensor):
        return elements.digest(walk)
    return _remembered(walk, tensor, size, elements)


def _remembered(walk: Walk, tensor: Any, size: int, elements: Elements) -> bytes:
    """Digest a large tensor, or return the cached digest if it is proved unchanged."""
    at, memo, budget = native(), walk.memo, walk.budget
    proof = (at.data_ptr(tensor), (*at.shape(tensor),), at.stride(tensor), at.dtype(tensor),
             at.version(tensor), id(tensor))  # fmt: skip
    storage = at.untyped_storage(tensor)
    place = storage._cdata  # noqa: SLF001 -- no public way
    identity = (place, at.cdata(tensor))
    # Use the cache only if no other tensor shares the memory: writing through that other tensor
    # would not change this one's proof. The two holders are this tensor and `storage`.
    known = memo.tensor(identity, proof) if at.holders(place) <= 2 else None  # noqa: PLR2004
    if known is not None and budget.reread >= size:  # regardless of the time left
        budget.reread -= size
        walk.count(size)
        digest = elements.whole(walk)
    elif known is not None and elements.sample(*memory.PROOF) == known.sample:
        walk.count(size)
        return known.digest
    else:
        digest = elements.digest(walk)
    memo.keep_tensor(storage, identity, proof, elements.sample(*memory.PROOF), digest)
    return digest


class Elements(Struct):
    """The elements of a tensor.

    Attributes:
        tensor: The tensor, without torch's lazy conjugate and negative bits.
        size: The size in bytes.
        device: The device type.
        borrowed: Whether the memory may be unmapped; see ``is_borrowed``.
    """

    tensor: Any
    size: int
    device: str
    borrowed: bool

    def digest(self, walk: Walk) -> bytes:
        """Digest all elements, or a sample; 16 bytes."""
        return self.whole(walk) if walk.may_read(self.size) else self.sample(*memory.SAMPLE)

    def whole(self, walk: Walk) -> bytes:
        """Digest all elements; 16 bytes."""
        at, tensor = native(), self.tensor
        if self.device in DEVICES and self.size > ON_HOST:
            warm(tensor.device, walk)
            return digest_on_device(bits(tensor), walk.charge)
        if self.device != "cpu":
            return walk.read_pieces(_pieces(bits(tensor)))
        if self.size > memory.CHUNK or self.borrowed or not at.is_contiguous(tensor):
            return walk.read_pieces(memory.pieces(as_array(tensor), borrowed=self.borrowed))
        walk.charge(self.size)
        return xxh3_128_digest(memory.view(at.data_ptr(tensor), self.size))

    def sample(self, blocks: int, block: int) -> bytes:
        """Digest a sample of the elements; 16 bytes.

        Args:
            blocks: The number of blocks before the last one.
            block: The number of bytes in each block.
        """
        at, tensor = native(), self.tensor
        if self.device == "cpu":
            return memory.sample(as_array(tensor), blocks, block, borrowed=self.borrowed)
        torch, item = sys.modules["torch"], at.element_size(tensor)
        count = at.numel(tensor)
        each = min(max(1, block // item), count)
        begin = torch.tensor(memory.starts(count, blocks, each), device="cpu")
        places = (begin[:, None] + torch.arange(each, device="cpu")).flatten()
        taken = take(bits(tensor), at.shape(tensor), places).cpu().contiguous()
        return xxh3_128_digest(memory.view(taken.data_ptr(), taken.numel() * taken.element_size()))


def is_plain(tensor: Any) -> bool:
    """Return whether a tensor is strided and its memory contains the elements as is."""
    at = native()
    lazy = at.is_conj(tensor) or at.is_neg(tensor)
    strided = not at.is_nested(tensor) and at.layout(tensor) is at.strided
    return strided and not (lazy or at.is_quantized(tensor))


def is_borrowed(tensor: Any) -> bool:
    """Return whether the memory of a strided tensor may be unmapped."""
    at = native()
    return at.device(tensor).type == "cpu" and not owns_storage(at.untyped_storage(tensor))


def as_array(tensor: Any) -> Any:
    """View a CPU tensor's memory as an array of opaque items of the same size."""
    import numpy as np

    at = native()
    shape, item = (*at.shape(tensor),), at.element_size(tensor)
    strides = tuple([step * item for step in at.stride(tensor)])
    _, size = extent(shape, strides, item)
    kind = f"u{item}" if item <= 8 else f"V{item}"  # noqa: PLR2004 -- numpy copies integers faster
    return np.ndarray(shape, kind, memory.view(at.data_ptr(tensor), size), 0, strides)


def readable(tensor: Any) -> Any:
    """Detach a strided tensor whose memory can be read.

    Raises:
        UnreadableError: Its memory was released.
    """
    at = native()
    if at.numel(tensor) and is_borrowed(tensor) and has_memory(tensor):
        require(as_array(tensor))
    return at.detach(tensor)


def has_memory(tensor: Any) -> bool:
    """Return whether a tensor's storage is allocated and large enough for its shape."""
    at = native()
    if at.data_ptr(tensor) == 0:
        return False
    dense = at.is_contiguous(tensor)
    reach = at.numel(tensor) if dense else extent(at.shape(tensor), at.stride(tensor), 1)[1]
    needed = (at.storage_offset(tensor) + reach) * at.element_size(tensor)
    return at.untyped_storage(tensor).nbytes() >= needed  # type: ignore[no-any-return]


def bits(tensor: Any) -> Any:
    """View a tensor as integers of the same item size, detached."""
    torch = sys.modules["torch"]
    tensor = native().detach(tensor)
    if tensor.is_quantized:
        return tensor.int_repr()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    sizes = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(sizes[tensor.element_size()])


def _pieces(tensor: Any) -> Iterator[memoryview]:
    """Copy a tensor of integers to contiguous CPU memory, piece by piece."""
    for piece in memory.split(tensor, tensor.numel() * tensor.element_size()):
        copy = piece.cpu().contiguous()
        yield memory.view(copy.data_ptr(), copy.numel() * copy.element_size())


# --------------------------------------------------------------------------------------------------
# Other layouts


def _quantizer(tensor: Any) -> str:
    scheme = str(tensor.qscheme())
    if "channel" not in scheme:
        return f"{scheme} {tensor.q_scale().hex()} {tensor.q_zero_point()}"
    each = (tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points())
    scales, points = map(readable, each)
    return f"{scheme} {scales.tolist()} {points.tolist()} {tensor.q_per_channel_axis()}"


# The methods that return the inner tensors, by layout.
_INSIDE = {
    "torch.sparse_coo": ("_indices", "_values"),  # the public methods need a coalesced tensor
    "torch.sparse_csr": ("crow_indices", "col_indices", "values"),
    "torch.sparse_bsr": ("crow_indices", "col_indices", "values"),
    "torch.sparse_csc": ("ccol_indices", "row_indices", "values"),
    "torch.sparse_bsc": ("ccol_indices", "row_indices", "values"),
}
# For strided nested tensors; jagged ones are tensor subclasses written in Python.
_NESTED = ("_nested_tensor_size", "_nested_tensor_strides", "values")


def made_of(tensor: Any) -> list[Any]:
    """Return the inner tensors of a nested or sparse tensor."""
    at = native()
    layout = str(at.layout(tensor))
    names = _NESTED if at.is_nested(tensor) else _INSIDE.get(layout, ("to_dense",))
    return [getattr(tensor, name)() for name in names]
