"""Records the tensors and numbers in the state of a training run at each step."""

from __future__ import annotations

import sys
from collections import ChainMap, UserDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from itertools import takewhile
from pathlib import Path
from traceback import walk_stack
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.determinism.interrupts import let_through
from ipytorchseed.introspection.anatomy import attributes, module_of_class
from ipytorchseed.introspection.ownership import is_installed_file, is_local_module
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.introspection.values import is_scalar
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.snapshot import RandomState, snapshot
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
    """A part of the training state, such as a model or its optimizer.

    Attributes:
        kind: ``model``, ``optimizer``, ``scheduler``, ``scaler`` or ``state``.
        leaves: The tensors and numbers in it, by name.
        variable: Whether it is a tensor or container in a variable. It may be state, or a batch.
    """

    kind: str
    leaves: dict[str, Leaf]
    variable: bool = False


def flatten(value: object) -> dict[str, Leaf]:
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


class Finder:
    """Finds the components of the training state. Each object is found once.

    Attributes:
        components: The components, by the expression by which the code reaches them.
        parameters: The names of parameters, such as ``model.0.weight``, by ``id``.
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
            name: The component's name. If the checkpoint has several components with such leaves,
                the one with this name is compared.
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


class Batch(Struct, frozen=True):
    """A batch of a data loader.

    Attributes:
        items: The indices of the items in it, as text; empty if the loader has no indices.
        digest: The digest of its content.
    """

    items: str
    digest: str


class Look(Struct, frozen=True):
    """The state of a training run before the first forward pass of a step.

    Attributes:
        components: The components of the training state, by name.
        sources: The state of every source, by name.
        generators: The state of every generator in the training's namespaces, by name.
        data: The digest of the input of the first module.
        batch: The last batch that was requested since the previous step, if any.
        made: Names that were bound after this batch was requested. Their values may depend on it.
    """

    components: dict[str, Component]
    sources: dict[str, bytes]
    generators: dict[str, bytes]
    data: str
    batch: Batch | None
    made: frozenset[str]


class Course:
    """One training run, recorded at each step.

    Attributes:
        looks: The training state before each step.
        after: The parameters after each step, by name.
    """

    def __init__(self) -> None:
        self.looks: list[Look] = []
        self.after: list[dict[str, Leaf]] = []
        self._batch: Batch | None = None
        self._bound: set[tuple[str, int]] = set()
        self._used: dict[str, object] = {}
        self._names: dict[int, str] = {}

    def forward(self, caller: object, given: object) -> None:
        """Record the state before the first forward pass of a step."""
        if len(self.looks) == len(self.after):
            self._used.setdefault(type(caller).__name__, caller)
            self._look(given)

    def step(self, optimizer: object, _: object, __: object) -> None:
        """Record the state before a step, if it had no forward pass."""
        self._used.setdefault(type(optimizer).__name__, optimizer)
        self.forward(optimizer, None)

    def stepped(self, optimizer: Any, _: object, __: object) -> None:
        """Record the parameters after a step."""
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        self.after.append(
            {
                self._names.get(id(each), f"parameter {index}"): tensor_leaf(each)
                for index, each in enumerate(parameters)
            }
        )
        self._batch = None

    def _look(self, given: object) -> None:
        namespaces = self._namespaces()
        made = _bindings(namespaces) - self._bound if self._bound else ()
        finder = Finder()
        for namespace in [*namespaces, self._used]:
            finder.add_all(namespace)
        self._names |= finder.parameters
        found = find_generators(ChainMap(*map(dict, namespaces)))
        self.looks.append(
            Look(
                components=finder.components,
                sources=dict(snapshot().states),
                generators={each.name: each.read() for each in found},
                data=_digest(given),
                batch=self._batch,
                made=frozenset(name for name, _ in made),
            )
        )

    def _namespaces(self) -> list[Mapping[str, object]]:
        """Return the namespaces of the training functions, the outermost first."""
        frames = (frame for frame, _ in walk_stack(sys._getframe(1)))  # noqa: SLF001 -- documented
        spaces: list[Mapping[str, object]] = []
        for each in [*takewhile(_is_of_training, frames)][::-1]:
            if not spaces or not is_installed_file(each.f_code.co_filename):
                names, reached = each.f_globals, each.f_code.co_names
                found = {name: names[name] for name in reached if name in names}
                spaces.append({**found, **each.f_locals})
        return spaces

    def watch_loaders(self, replaced: Replacements) -> None:
        """Record the batches of every data loader from now on."""
        from torch.utils.data import dataloader

        base: Any = dataloader._BaseDataLoaderIter  # noqa: SLF001 -- no public way to the indices
        next_index, next_ = base._next_index, base.__next__  # noqa: SLF001 -- as above
        asked = WeakKeyDictionary[Any, list[str]]()  # the indices of requested batches, by iterator

        def note_items(iterator: Any) -> object:
            index = next_index(iterator)
            asked.setdefault(iterator, []).append(str(index))
            return index

        def note_batch(iterator: Any) -> object:
            self._bound = _bindings(self._namespaces())
            data = next_(iterator)
            items = asked.get(iterator)
            self._batch = Batch(items.pop(0) if items else "", _digest(data))
            return data

        replaced.put(base, "_next_index", note_items)
        replaced.put(base, "__next__", note_batch)


def follow(train: Callable[..., object], *arguments: object) -> Course:
    """Call ``train`` and record its steps. The hooks are removed afterwards."""
    from torch.nn.modules.module import register_module_forward_pre_hook
    from torch.optim import optimizer

    course = Course()
    with ExitStack() as stack, Replacements() as replaced:
        for handle in (
            register_module_forward_pre_hook(course.forward),
            optimizer.register_optimizer_step_pre_hook(course.step),
            optimizer.register_optimizer_step_post_hook(course.stepped),
        ):
            stack.callback(handle.remove)
        course.watch_loaders(replaced)
        let_through(partial(train, *arguments))
    return course


def _is_of_training(frame: FrameType) -> bool:
    """Return whether a frame is inside the call that ``follow`` makes."""
    return frame.f_globals is not let_through.__globals__


def _bindings(namespaces: list[Mapping[str, object]]) -> set[tuple[str, int]]:
    """Return the names in namespaces, each with the ``id`` of its value."""
    return {(name, id(value)) for each in namespaces for name, value in each.items()}


def _digest(given: object) -> str:
    """Return a digest of all tensors and numbers in a module's input, or in a batch."""
    return xxh3_64_hexdigest(" ".join(leaf.content for leaf in flatten(given).values()).encode())
