"""Fingerprints of tensors: their elements, gradient, hooks and attributes."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import suppress
from operator import itemgetter
from typing import Any

from ipytorchseed.fingerprint import elements
from ipytorchseed.fingerprint.containers import SERIES
from ipytorchseed.fingerprint.memory import UnreadableError
from ipytorchseed.fingerprint.native import native, reads_natively
from ipytorchseed.fingerprint.scalars import join, text
from ipytorchseed.fingerprint.walk import Draft, Walk, Writing, digest_of
from ipytorchseed.introspection.anatomy import anatomy

# The prefix of the attributes that torch's compiler sets on tensors.
_NOTED = "_dynamo_"


def other_parts(tensor: Any, walk: Walk) -> Generator[object, bytes, tuple[bytes, bytes]]:
    """Encode the gradient, hooks and extra attributes of a tensor.

    Returns:
        The token of the gradient, and the joined tokens of hooks and attributes. Both may be empty.
    """
    at = native()
    grad = at.grad(tensor) if at.is_leaf(tensor) else None  # for other tensors, torch would warn
    told = b""
    if grad is not None:
        told = b"D" + elements.contents(walk, grad) if id(type(grad)) in at.plain else (yield grad)
    rest = b""
    for hooks in (at.hooks(tensor), at.hooks_after(tensor)):
        if hooks:
            rest += yield [*dict.values(hooks)]
    attributes = at.attributes(tensor)
    if attributes:
        named = [item for item in attributes.items() if type(item[0]) is str]
        kept = [item for item in named if not item[0].startswith(_NOTED)]
        rest += join((yield from walk.named(sorted(kept, key=itemgetter(0)))))
    return told, rest


def write_tensor(value: Any, walk: Walk) -> Writing:
    """Encode a tensor or a parameter."""
    at = native()
    kind = type(value)
    if not reads_natively(kind):
        return (yield from _write_wrapper(value, walk))
    body = elements.read_contents(walk, value)
    grad, rest = yield from other_parts(value, walk)
    title = b"" if id(kind) in at.plain else text(anatomy(kind).name)
    content = b"tensor" + title + body + grad + b";" + rest
    if not walk.top:
        return Draft(content, "tensor")
    parts = {"shape": shape_of(value), "dtype": elements.dtype_of(value), "content": body[:8].hex()}
    if grad:
        parts["grad"] = digest_of(grad)
    series = series_of(value)
    return Draft(content, "tensor", summary_of(value, series), parts, series)


def _write_wrapper(value: Any, walk: Walk) -> Writing:
    """Encode the inner tensors of a tensor whose class handles operations itself."""
    made = anatomy(type(value))
    tokens = yield from walk.named(made.attributes(value))
    opaque = not tokens
    if opaque:
        walk.mark_unseen(made.name)
    parts = {f"a:{name}": digest_of(token) for name, token in tokens}
    content = b"wrapper" + text(made.name) + join(tokens)
    return Draft(content, "tensor", made.title, parts, opaque=opaque)


def shape_of(tensor: Any) -> str:
    """Return the shape of a tensor as text, such as ``2 x 3``."""
    if native().is_nested(tensor):
        return "nested"
    return " x ".join(map(str, native().shape(tensor))) or "scalar"


def summary_of(tensor: Any, series: tuple[float, ...] | None = None) -> str:
    """Return a line that describes a tensor, with its value if it is a scalar."""
    shape, device = shape_of(tensor), native().device(tensor).type
    shown = f"{series[0]:.6g}" if shape == "scalar" and series else shape
    line = f"{elements.dtype_of(tensor)} tensor {shown}"
    return line if device == "cpu" else f"{line} on {device}"


def series_of(tensor: Any) -> tuple[float, ...] | None:
    """Return the numbers of a short one-dimensional tensor or scalar, if readable."""
    at, dtype = native(), native().dtype(tensor)
    if at.is_nested(tensor) or at.layout(tensor) is not at.strided or at.is_quantized(tensor):
        return None
    most = 1 if len(at.shape(tensor)) > 1 else SERIES
    if dtype.is_complex or dtype is sys.modules["torch"].bool or not 0 < at.numel(tensor) <= most:
        return None
    with suppress(UnreadableError, RuntimeError):  # torch cannot convert float4, for example
        if at.device(tensor).type != "meta" and elements.has_memory(tensor):
            return tuple(map(float, elements.readable(tensor).reshape(-1).tolist()))
    return None


def storage_state(value: Any) -> object:
    """Return a storage as a tensor of bytes that shares its memory."""
    torch = sys.modules["torch"]
    return torch.empty(0, dtype=torch.uint8, device=value.device).set_(value)
