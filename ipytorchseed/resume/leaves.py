"""Flattens the state of a training run, and a checkpoint, to named leaves."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import FunctionType, MethodType, ModuleType
from typing import Any

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.introspection.anatomy import attributes, module_of_class
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.introspection.values import is_scalar
from ipytorchseed.resume.checkpoint import Checkpoint, is_stateful
from ipytorchseed.rng.snapshot import RandomState
from ipytorchseed.trace.digests import MASK, digest_of_tensor

_DEEP = 8  # the most levels of containers in a state that are flattened
_DEPTH = 2  # the most levels of attributes of user-defined objects: one for `trainer.model`


class Leaf(Struct, frozen=True):
    """A tensor or number of a state.

    Attributes:
        type: The dtype of a tensor, or the type of a number.
        content: The digest of a tensor, or a number as text.
        shape: The shape of a tensor; None for a number.
    """

    type: str
    content: str
    shape: tuple[int, ...] | None = None


class Component(Struct, frozen=True):
    """A part of the training state: a model, its optimizer.

    Attributes:
        kind: ``model``, ``optimizer``, ``scheduler``, ``scaler`` or ``state``.
        leaves: The tensors and numbers in it, by name.
        variable: Whether it is a tensor or container in a variable. It may be state, or a batch.
    """

    kind: str
    leaves: dict[str, Leaf]
    variable: bool = False


def flatten(value: object) -> dict[str, Leaf]:
    """Return the tensors and numbers of a state by their names: ``state.0.exp_avg``."""
    found = {name: _leaf(item) for name, item in _items(value)}
    return {name: leaf for name, leaf in found.items() if leaf is not None}


def _items(value: object, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """Yield the items in nested mappings and sequences, each with its dotted name."""
    if isinstance(value, Mapping):
        items = [*value.items()]
    elif isinstance(value, list | tuple):
        items = [*enumerate(value)]
    else:
        yield prefix, value
        return
    for key, item in items if depth < _DEEP else []:
        yield from _items(item, f"{prefix}.{key}" if prefix else str(key), depth + 1)


def _leaf(value: Any) -> Leaf | None:
    torch: Any = sys.modules["torch"]
    array: Any = getattr(sys.modules.get("numpy"), "ndarray", ())
    if isinstance(value, torch.Tensor):
        return tensor_leaf(value)
    if isinstance(value, array):
        return Leaf(str(value.dtype), xxh3_64_hexdigest(value.tobytes()), value.shape)
    if isinstance(value, bytes | bytearray):
        return Leaf("bytes", xxh3_64_hexdigest(value))
    return Leaf(type(value).__name__, repr(value)) if is_scalar(value) else None


def tensor_leaf(tensor: Any) -> Leaf:  # a tensor
    """Return a leaf for a tensor; for a distributed tensor, of its local part."""
    plain = getattr(tensor, "_local_tensor", tensor).detach()
    content = f"{digest_of_tensor(portable=True)(plain) & MASK:016x}"
    return Leaf(str(plain.dtype).removeprefix("torch."), content, tuple(plain.shape))


class Finder:
    """Finds the components of the training state. Each object is found once.

    Attributes:
        components: The components, by the expression by which the code reaches them.
        parameters: The names of parameters, ``model.0.weight``, by the ``id`` of the parameter.
    """

    def __init__(self) -> None:
        self.components: dict[str, Component] = {}
        self.parameters: dict[int, str] = {}
        self._seen: dict[int, object] = {}  # kept alive, so that no identity is reused
        self._torch: Any = sys.modules["torch"]
        data = self._torch.utils.data
        self._passed_over = (*_PASSED_OVER, data.DataLoader, data.Dataset)

    def add_all(self, namespace: Mapping[str, object]) -> None:
        """Add the components in the values of a namespace."""
        for name, value in namespace.items():
            self._add(name, value, 0)

    def _add(self, name: str, value: object, depth: int) -> None:
        if name.startswith("_") or name in self.components or id(value) in self._seen:
            return
        if is_scalar(value) or isinstance(value, self._passed_over):
            return
        self._seen[id(value)] = value
        if isinstance(value, self._torch.nn.Module):
            self._add_module(name, value)
        elif is_stateful(value):
            state: Any = value
            groups = getattr(value, "param_groups", [])  # a loop variable may refer to one
            self._seen |= {id(each): each for each in groups}
            with suppress(Exception):  # the object may not have a state yet
                self.components[name] = Component(_kind(value), flatten(state.state_dict()))
        elif isinstance(value, self._torch.Tensor | Mapping | list | tuple):
            leaves = flatten(value)
            if any(leaf.shape is not None for leaf in leaves.values()):
                self.components[name] = Component("state", leaves, variable=True)
        elif depth < _DEPTH and is_local_module(module_of_class(type(value))):
            for attribute, item in attributes(value):
                self._add(f"{name}.{attribute}", item, depth + 1)

    def _add_module(self, name: str, module: Any) -> None:  # a torch.nn.Module
        tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        if tensors and all(id(each) in self._seen for each in tensors.values()):
            return  # a part of a module that was found, or a wrapper around one
        self._seen.update({id(each): each for each in tensors.values()})
        for each, tensor in tensors.items():
            self.parameters.setdefault(id(tensor), f"{name}.{each}")
        leaves = {each: tensor_leaf(tensor) for each, tensor in tensors.items()}
        self.components[name] = Component("model", leaves)


_PASSED_OVER = (type, ModuleType, FunctionType, MethodType, Checkpoint, RandomState)


def _kind(value: object) -> str:
    torch: Any = sys.modules["torch"]
    if isinstance(value, torch.optim.Optimizer):
        return "optimizer"
    if isinstance(value, torch.optim.lr_scheduler.LRScheduler):
        return "scheduler"
    return "scaler" if "GradScaler" in [each.__name__ for each in type(value).__mro__] else "state"


class Saved:
    """The content of a checkpoint, in which leaves can be searched.

    Args:
        content: The saved mapping.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._leaves = flatten(content)
        self._blobs = [item for _, item in _items(content) if isinstance(item, bytes)]

    def has(self, name: str, component: Component, part: list[str]) -> bool | None:
        """Return whether the checkpoint has leaves of a component; None if unknown.

        Args:
            name: The component's name. It decides if several components have such leaves.
            component: The component.
            part: The names of the leaves to search.
        """
        if all(leaf.shape is None for leaf in self._leaves.values()):
            return None  # the user's code may have saved it in a separate file
        part = [each for each in part if each in component.leaves]
        ends = [path for path in self._leaves if f".{path}".endswith(f".{part[0]}")] if part else []
        places = [path[: len(path) - len(part[0])] for path in ends]
        places = [place for place in places if all(place + each in self._leaves for each in part)]
        own = [place for place in places if place == f"{name}."] or places
        if any(
            all(self._leaves[place + each] == component.leaves[each] for each in part)
            for place in own
        ):
            return True
        return None if places else False

    def has_state(self, state: bytes) -> bool:
        """Return whether the checkpoint contains the state of a source or generator."""
        torch: Any = sys.modules["torch"]
        tensor = tensor_leaf(torch.frombuffer(bytearray(state), dtype=torch.uint8))
        return tensor in self._leaves.values() or any(state in blob for blob in self._blobs)
