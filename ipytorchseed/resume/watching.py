"""Records the state of a training run at each step."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from itertools import takewhile
from traceback import walk_stack
from types import FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.determinism.interrupts import let_through
from ipytorchseed.introspection.anatomy import attributes, module_of_class
from ipytorchseed.introspection.ownership import is_installed_file, is_local_module
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.introspection.values import is_scalar
from ipytorchseed.resume.checkpoint import Checkpoint, Leaf, flatten, is_stateful, tensor_leaf
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.snapshot import RandomState, snapshot

_DEPTH = 2  # the most levels of attributes of user-defined objects: one for `trainer.model`


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


class Finder:
    """A search for the components of the training state. Each object is found once.

    Attributes:
        components: The components, by the expression by which the code reaches them.
        parameters: The names of parameters, such as ``model.0.weight``, by ``id``.
    """

    def __init__(self) -> None:
        self.components: dict[str, Component] = {}
        self.parameters: dict[int, str] = {}
        self._seen: dict[int, object] = {}  # kept alive, so that no identity is reused

    def add(self, name: str, value: Any, depth: int = 0) -> None:
        """Add the components in the value of a variable or attribute."""
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
                self.add(f"{name}.{attribute}", item, depth + 1)

    def _add_module(self, name: str, module: Any) -> None:  # a torch.nn.Module
        tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        if tensors and all(id(each) in self._seen for each in tensors.values()):
            return  # a part of a module that was found, or a wrapper around one
        for each, tensor in tensors.items():
            self._seen[id(tensor)] = tensor
            self.parameters.setdefault(id(tensor), f"{name}.{each}")
        leaves = {each: tensor_leaf(tensor) for each, tensor in tensors.items()}
        self.components[name] = Component("model", leaves)


_PASSED_OVER = (type, ModuleType, FunctionType, MethodType, Checkpoint, RandomState)

# The kinds of torch's stateful classes, by name.
_KINDS = {"Optimizer": "optimizer", "LRScheduler": "scheduler", "GradScaler": "scaler"}


def _kind(value: object) -> str:
    classes = {each.__name__ for each in type(value).__mro__}
    return next((kind for name, kind in _KINDS.items() if name in classes), "state")


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
        states: The state of every source, and of every generator in the training's namespaces.
        data: The digest of the input of the first module.
        batch: The last batch that was requested since the previous step, if any.
    """

    components: dict[str, Component]
    states: dict[str, bytes]
    data: str
    batch: Batch | None


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
        self._used: dict[str, object] = {}
        self._names: dict[int, str] = {}

    def forward(self, caller: object, given: object) -> None:
        """Record the state before the first forward pass of a step."""
        if len(self.looks) == len(self.after):
            self._used.setdefault(type(caller).__name__, caller)
            self._look(given)

    def step(self, optimizer: object, _: object, __: object) -> None:
        """Record the state before an optimizer's step that followed no forward pass."""
        self._used.setdefault(type(optimizer).__name__, optimizer)
        self.forward(optimizer, None)

    def stepped(self, optimizer: Any, _: object, __: object) -> None:
        """Record the parameters after a step."""
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        places = enumerate(parameters)
        names = [self._names.get(id(each), f"parameter {place}") for place, each in places]
        self.after.append(dict(zip(names, map(tensor_leaf, parameters), strict=True)))
        self._batch = None

    def _look(self, given: object) -> None:
        namespaces = self._namespaces()
        finder = Finder()
        for namespace in [*namespaces, self._used]:
            for name, value in namespace.items():
                finder.add(name, value)
        self._names |= finder.parameters
        found = find_generators(ChainMap(*map(dict, namespaces)))
        states = {**snapshot().states, **{each.name: each.read() for each in found}}
        self.looks.append(Look(finder.components, states, _digest(given), self._batch))

    def _namespaces(self) -> list[Mapping[str, object]]:
        """Return the namespaces of the training functions, the outermost first."""
        frames = (frame for frame, _ in walk_stack(sys._getframe(1)))  # noqa: SLF001 -- documented
        inside = takewhile(lambda each: each.f_globals is not let_through.__globals__, frames)
        spaces: list[Mapping[str, object]] = []
        for each in [*inside][::-1]:  # inside the call that ``follow`` makes
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
        stack.callback(register_module_forward_pre_hook(course.forward).remove)
        stack.callback(optimizer.register_optimizer_step_pre_hook(course.step).remove)
        stack.callback(optimizer.register_optimizer_step_post_hook(course.stepped).remove)
        course.watch_loaders(replaced)
        let_through(partial(train, *arguments))
    return course


def _digest(given: object) -> str:
    """Return a digest of all tensors and numbers in a module's input, or in a batch."""
    return xxh3_64_hexdigest(" ".join(leaf.content for leaf in flatten(given).values()).encode())
