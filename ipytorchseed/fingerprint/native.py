"""Accessors of tensor attributes that ignore overrides in subclasses."""

from __future__ import annotations

import sys
from functools import cache
from types import GetSetDescriptorType, SimpleNamespace
from typing import Any

from ipytorchseed.introspection.anatomy import find_member, own, per_object
from ipytorchseed.introspection.values import imported


class _Native(SimpleNamespace):
    """Functions that read an attribute of a tensor, created when first needed."""

    def __getattr__(self, name: str) -> Any:
        """Return the getter of an attribute of ``TensorBase``, or a method of it."""
        found = getattr(sys.modules["torch"]._C.TensorBase, name)  # noqa: SLF001 -- torch extends it
        reader = found.__get__ if type(found) is GetSetDescriptorType else found
        setattr(self, name, reader)
        return reader


@cache
def native() -> Any:
    """Return an object whose attributes are functions of a tensor, such as ``shape``.

    torch must have been imported. A few attributes are not functions of a tensor. ``holders``
    returns the reference count of a storage, given the address of its C++ object. ``is_shared`` and
    ``resizable`` are functions of a storage. ``plain`` is the set of the ``id`` of torch's tensor
    classes, and ``strided`` is a layout.
    """
    torch = sys.modules["torch"]
    base, storage = torch._C.TensorBase, torch._C.StorageBase  # noqa: SLF001 -- as above
    classes = [torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.Tensor)]
    return _Native(
        attributes=own(torch.Tensor)["__dict__"].__get__,
        cdata=base.__dict__["_cdata"].__get__,
        holders=torch._C._storage_Use_Count,  # noqa: SLF001 -- no public way
        hooks=base.__dict__["_backward_hooks"].__get__,
        hooks_after=base.__dict__["_post_accumulate_grad_hooks"].__get__,
        is_shared=storage.is_shared,
        plain=frozenset(map(id, classes)),
        resizable=storage.resizable,
        strided=torch.strided,
        version=base.__dict__["_version"].__get__,
    )


def is_tensor_type(kind: type) -> bool:
    """Return whether objects of a class are tensors."""
    made = imported("torch", "Tensor")
    return made is not None and issubclass(kind, made)


@per_object
def reads_natively(kind: type) -> bool:
    """Return whether a class is a tensor class without its own ``__torch_dispatch__``.

    Only then do its tensors have memory that can be read.
    """
    if not is_tensor_type(kind):
        return False
    base = own(sys.modules["torch"].Tensor)["__torch_dispatch__"]
    found = find_member(kind, "__torch_dispatch__")
    return type(found) is type(base) and found == base


class Unseen:
    """A context in which no torch function or dispatch override sees our operations."""

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
