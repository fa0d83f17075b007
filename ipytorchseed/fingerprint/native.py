"""torch's own readers of tensors, past what a subclass overrides."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ipytorchseed.introspection.anatomy import PerObject, mro, own

if TYPE_CHECKING:
    from collections.abc import Callable


class Native(Struct, frozen=True):
    """Attributes and methods of ``torch._C.TensorBase``, as functions of a tensor.

    ``holders`` is asked of a storage, by the address of torch's object: how many hold it. Of a
    storage itself, ``is_shared`` and ``resizable`` are asked.
    """

    cdata: Callable[[Any], int]
    data_ptr: Callable[[Any], int]
    detach: Callable[[Any], Any]
    device: Callable[[Any], Any]
    dtype: Callable[[Any], Any]
    element_size: Callable[[Any], int]
    grad: Callable[[Any], Any]
    holders: Callable[[int], int]
    hooks: Callable[[Any], Any]
    hooks_after: Callable[[Any], Any]
    is_conj: Callable[[Any], bool]
    is_contiguous: Callable[[Any], bool]
    is_inference: Callable[[Any], bool]
    is_leaf: Callable[[Any], bool]
    is_neg: Callable[[Any], bool]
    is_nested: Callable[[Any], bool]
    is_quantized: Callable[[Any], bool]
    is_shared: Callable[[Any], bool]
    layout: Callable[[Any], Any]
    numel: Callable[[Any], int]
    offset: Callable[[Any], int]
    requires_grad: Callable[[Any], bool]
    resizable: Callable[[Any], bool]
    shape: Callable[[Any], tuple[int, ...]]
    storage: Callable[[Any], Any]
    stride: Callable[[Any], tuple[int, ...]]
    version: Callable[[Any], int]
    attributes: Callable[[Any], dict[str, Any]]
    plain: frozenset[int]
    strided: Any


@cache
def native() -> Native:
    """Return the readers; torch must have been imported."""
    torch = sys.modules["torch"]
    base = torch._C.TensorBase  # noqa: SLF001 -- what torch.Tensor itself extends

    def attribute(name: str) -> Callable[[Any], Any]:
        return base.__dict__[name].__get__  # type: ignore[no-any-return]

    classes = [torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.Tensor)]
    return Native(
        cdata=attribute("_cdata"),
        data_ptr=base.data_ptr,
        detach=base.detach,
        device=attribute("device"),
        dtype=attribute("dtype"),
        element_size=base.element_size,
        grad=attribute("grad"),
        holders=torch._C._storage_Use_Count,  # noqa: SLF001 -- no public way
        hooks=attribute("_backward_hooks"),
        hooks_after=attribute("_post_accumulate_grad_hooks"),
        is_conj=base.is_conj,
        is_contiguous=base.is_contiguous,
        is_inference=base.is_inference,
        is_leaf=attribute("is_leaf"),
        is_neg=base.is_neg,
        is_nested=attribute("is_nested"),
        is_quantized=attribute("is_quantized"),
        is_shared=torch._C.StorageBase.is_shared,  # noqa: SLF001 -- as above
        layout=attribute("layout"),
        numel=base.numel,
        offset=base.storage_offset,
        requires_grad=attribute("requires_grad"),
        resizable=torch._C.StorageBase.resizable,  # noqa: SLF001 -- as above
        shape=attribute("shape"),
        storage=base.untyped_storage,
        stride=base.stride,
        version=attribute("_version"),
        attributes=own(torch.Tensor)["__dict__"].__get__,
        plain=frozenset(map(id, classes)),
        strided=torch.strided,
    )


def is_tensor_type(kind: type) -> bool:
    """Tell whether objects of a class are tensors."""
    torch = sys.modules.get("torch")
    made = getattr(torch, "Tensor", None)
    return made is not None and issubclass(kind, made)


def _reads_natively(kind: type) -> bool:
    if not is_tensor_type(kind):
        return False
    torch = sys.modules["torch"]
    base = own(torch.Tensor)["__torch_dispatch__"]
    for each in mro(kind):
        found = own(each).get("__torch_dispatch__")
        if found is not None:
            return type(found) is type(base) and found == base
    return False


reads_natively: PerObject[type, bool] = PerObject(_reads_natively)
"""Whether a tensor class leaves operations to torch, so that its tensors have their own memory."""


class Unseen:
    """Keeps what watches or redirects torch's operations from seeing ours, while it is entered."""

    __slots__ = ("_dispatch", "_function")

    def __enter__(self) -> None:
        torch: Any = sys.modules.get("torch")
        self._function: Any = None
        self._dispatch: Any = None
        if torch is not None and hasattr(torch, "nn"):  # not half imported
            self._function = torch._C.DisableTorchFunction()  # noqa: SLF001 -- as torch.overrides do
            self._dispatch = torch._C._DisableTorchDispatch()  # noqa: SLF001 -- no public way
            self._function.__enter__()
            self._dispatch.__enter__()

    def __exit__(self, *raised: object) -> None:
        if self._function is not None:
            self._dispatch.__exit__(*raised)
            self._function.__exit__(*raised)
