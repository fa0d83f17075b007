"""Records the steps of a training run by hooks of torch."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import takewhile
from traceback import walk_stack
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from ipytorchseed.determinism.interrupts import let_through
from ipytorchseed.introspection.ownership import is_installed_file
from ipytorchseed.introspection.replacing import Replacements
from ipytorchseed.resume.leaves import Component, Finder, Leaf, flatten, tensor_leaf
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.snapshot import snapshot


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
    """Return whether a frame is inside of the call that ``follow`` makes."""
    return frame.f_globals is not let_through.__globals__


def _bindings(namespaces: list[Mapping[str, object]]) -> set[tuple[str, int]]:
    """Return the names in namespaces, each with the ``id`` of its value."""
    return {(name, id(value)) for each in namespaces for name, value in each.items()}


def _digest(given: object) -> str:
    """Return a digest of all tensors and numbers in a module's input, or in a batch."""
    return xxh3_64_hexdigest(" ".join(leaf.content for leaf in flatten(given).values()).encode())
