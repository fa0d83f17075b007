"""The checkpoint of a training run, and the tensors and numbers in it."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.introspection.values import is_scalar
from ipytorchseed.trace.digests import MASK, digest_of_tensor

_DEEP = 8  # the most levels of containers in a state that are flattened


def is_stateful(value: object) -> bool:
    """Return whether a value has ``state_dict`` and ``load_state_dict``."""
    methods = "state_dict", "load_state_dict"
    return all(callable(getattr(type(value), name, None)) for name in methods)


class Checkpoint(UserDict[str, Any]):
    """A checkpoint: a mapping that is saved when ``train`` returns.

    An object with ``state_dict`` and ``load_state_dict`` is loaded when it is assigned, if the
    checkpoint contains its state: ``state["model"] = model``. Of such an object,
    ``state_dict()`` is saved; any other object is saved as it is. The mapping is empty when
    training starts from scratch.

    Args:
        folder: A folder for files that ``train`` writes itself.
        held: The content that was saved; None when training starts from scratch.
    """

    def __init__(self, folder: Path, held: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.folder = folder
        self.data = dict(held or {})
        self._held = {*self.data}

    def __setitem__(self, name: str, value: Any) -> None:  # any value to save
        if is_stateful(value) and name in self._held:
            value.load_state_dict(self.data[name])
        self._held.discard(name)
        self.data[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._held.discard(name)

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


# The tensors and numbers of a state, by name.
Leaves = dict[str, Leaf]


def flatten(value: object) -> Leaves:
    """Return the tensors and numbers of a state by name, such as ``state.0.exp_avg``."""
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


class Saved:
    """The content of a checkpoint, in which leaves can be searched.

    Args:
        content: The saved mapping.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._leaves = flatten(content)
        self._blobs = [item for _, item in _items(content) if isinstance(item, bytes)]

    def has(self, name: str, wanted: Mapping[str, Leaf]) -> bool | None:
        """Return whether the checkpoint has leaves of a component; None if unknown.

        Args:
            name: The component's name. If the checkpoint has several components with such leaves,
                the one with this name is compared.
            wanted: The leaves to search, by name.
        """
        if all(leaf.shape is None for leaf in self._leaves.values()):
            return None  # the user's code may have saved it in a separate file
        if not wanted:
            return False
        end, saved = next(iter(wanted)), dict[str, dict[str, Leaf | None]]()
        for path in [path for path in self._leaves if f".{path}".endswith(f".{end}")]:
            begin = path.removesuffix(end)
            saved[begin] = {each: self._leaves.get(begin + each) for each in wanted}
        saved = {begin: found for begin, found in saved.items() if None not in found.values()}
        own = [saved[f"{name}."]] if f"{name}." in saved else saved.values()
        return True if wanted in own else None if saved else False

    def has_state(self, state: bytes) -> bool:
        """Return whether the checkpoint contains the state of a source or generator."""
        import torch

        tensor = tensor_leaf(torch.frombuffer(bytearray(state), dtype=torch.uint8))
        return tensor in self._leaves.values() or any(state in blob for blob in self._blobs)
