"""The checkpoint of a training run, and its state as named leaves."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.introspection.anatomy import attributes, module_of_class
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.introspection.values import is_scalar
from ipytorchseed.rng.snapshot import RandomState
from ipytorchseed.trace.digests import MASK, digest_of_tensor

_DEEP = 8  # the most levels of containers in a state that are flattened
_DEPTH = 2  # the most levels of attributes of user-defined objects: one for `trainer.model`


def is_stateful(value: object) -> bool:
    """Return whether a value has ``state_dict`` and ``load_state_dict``."""
    methods = "state_dict", "load_state_dict"
    return all(callable(getattr(type(value), name, None)) for name in methods)


class Checkpoint(UserDict[str, Any]):
    """A checkpoint: a mapping that is saved when ``train`` returns.

    An object with ``state_dict`` and ``load_state_dict`` is loaded when it is assigned, if the
    checkpoint contains its state: ``state["model"] = model``. Such an object is saved by its
    ``state_dict``, and any other object directly. The mapping is empty when training starts from
    scratch.

    Args:
        folder: A folder for files that ``train`` writes itself.
        held: The content that was saved; None when training starts from scratch.
    """

    def __init__(self, folder: Path, held: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.folder = folder
        self.data = dict(held or {})
        self._held = {*self.data}

    def __missing__(self, name: str) -> Any:  # always raises
        msg = f"the checkpoint holds no {name!r}; it holds: {', '.join(self) or 'nothing yet'}"
        raise KeyError(msg)

    def __setitem__(self, name: str, value: Any) -> None:  # any value to save
        if is_stateful(value) and name in self._held:
            value.load_state_dict(self.data[name])
        self._held.discard(name)
        self.data[name] = value

    def __delitem__(self, name: str) -> None:
        self[name]  # raises the error that lists existing names
        self._held.discard(name)
        del self.data[name]

    def to_save(self) -> dict[str, Any]:
        """Return the content to save: without loaded entries that were not assigned."""
        return {
            name: value.state_dict() if is_stateful(value) else value
            for name, value in self.data.items()
            if name not in self._held
        }


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
    import numpy as np
    import torch

    if isinstance(value, torch.Tensor):
        return tensor_leaf(value)
    if isinstance(value, np.ndarray):
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

    def add_all(self, namespace: Mapping[str, object]) -> None:
        """Add the components in the values of a namespace."""
        for name, value in namespace.items():
            self._add(name, value, 0)

    def _add(self, name: str, value: Any, depth: int) -> None:
        import torch
        from torch.utils.data import DataLoader, Dataset

        if name.startswith("_") or name in self.components or id(value) in self._seen:
            return
        if is_scalar(value) or isinstance(value, (*_PASSED_OVER, DataLoader, Dataset)):
            return
        self._seen[id(value)] = value
        if isinstance(value, torch.nn.Module):
            self._add_module(name, value)
        elif is_stateful(value):
            groups = getattr(value, "param_groups", [])  # a loop variable may refer to one
            self._seen |= {id(each): each for each in groups}
            with suppress(Exception):  # the object may not have a state yet
                self.components[name] = Component(_kind(value), flatten(value.state_dict()))
        elif isinstance(value, torch.Tensor | Mapping | list | tuple):
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

# The kinds of torch's stateful classes, by name.
_KINDS = {"Optimizer": "optimizer", "LRScheduler": "scheduler", "GradScaler": "scaler"}


def _kind(value: object) -> str:
    classes = {each.__name__ for each in type(value).__mro__}
    return next((kind for name, kind in _KINDS.items() if name in classes), "state")


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
        wanted = {each: component.leaves[each] for each in part if each in component.leaves}
        if not wanted:
            return False
        end = next(iter(wanted))
        paths = (path for path in self._leaves if f".{path}".endswith(f".{end}"))
        begins = (path.removesuffix(end) for path in paths)
        saved = {
            begin: {each: self._leaves.get(begin + each) for each in wanted} for begin in begins
        }
        saved = {begin: found for begin, found in saved.items() if None not in found.values()}
        own = [saved[f"{name}."]] if f"{name}." in saved else saved.values()
        return True if wanted in own else None if saved else False

    def has_state(self, state: bytes) -> bool:
        """Return whether the checkpoint contains the state of a source or generator."""
        import torch

        tensor = tensor_leaf(torch.frombuffer(bytearray(state), dtype=torch.uint8))
        return tensor in self._leaves.values() or any(state in blob for blob in self._blobs)
