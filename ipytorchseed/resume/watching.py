"""Records a training at each step, by torch's hooks."""

from __future__ import annotations

import sys
from collections import ChainMap, Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import takewhile
from traceback import walk_stack
from types import FrameType
from typing import Any

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
        epoch: The number of earlier iterators of its loader.
        number: Its position in the epoch, from 0.
        indices: The items in it, as text; empty if the loader does not say.
        workers: The loader's worker processes; 0 if it was made in this process.
        digest: The digest of its content.
        said: The epoch that was given to the sampler's ``set_epoch``; None if it has none.
    """

    epoch: int
    number: int
    indices: str
    workers: int
    digest: str
    said: object = None


class Look(Struct, frozen=True):
    """A training before the first forward pass of a step.

    Attributes:
        components: The components of its state, by name.
        sources: Every source's state.
        generators: The state of every generator that its code reaches.
        data: Digest of the input of the first module.
        batches: The batches since the last step.
        made: Names bound since the last batch was requested, whose values may depend on it.
        drawn: Sources drawn from since the look before, without the seed that a loader without
            workers draws and does not use.
    """

    components: dict[str, Component]
    sources: dict[str, bytes]
    generators: dict[str, bytes]
    data: str
    batches: tuple[Batch, ...]
    made: frozenset[str]
    drawn: frozenset[str]


class Course(Struct):
    """One run of a training.

    Attributes:
        looks: The training before each step.
        after: The parameters after each step, by name.
        drawn: Sources drawn from since the last look, as in ``Look``.
    """

    looks: list[Look] = []
    after: list[dict[str, Leaf]] = []
    drawn: frozenset[str] = frozenset()


class _Iterator(Struct):
    """An iterator of a data loader.

    Attributes:
        loader: The loader.
        epoch: The number of earlier iterators of the loader.
        given: The number of batches so far.
        asked: The items of the next batches, as text.
    """

    loader: Any
    epoch: int
    given: int = 0
    asked: list[str] = []

    def give(self, data: object) -> Batch:
        """Count a batch and describe it."""
        self.given += 1
        indices = self.asked.pop(0) if self.asked else ""
        workers, said = self.loader.num_workers, _said(self.loader)
        return Batch(self.epoch, self.given - 1, indices, workers, _digest(data), said)


# The source that seeds a loader's workers, drawn from even without workers.
_SEEDS = "torch.cpu"


def follow(train: Callable[..., object], *arguments: object) -> Course:
    """Call ``train`` and record it; hooks are installed only while it runs."""
    from torch.nn.modules.module import register_module_forward_pre_hook
    from torch.optim import optimizer

    watch = _Watch()
    with ExitStack() as stack:
        for handle in (
            register_module_forward_pre_hook(watch.forward),
            optimizer.register_optimizer_step_pre_hook(watch.step),
            optimizer.register_optimizer_step_post_hook(watch.stepped),
        ):
            stack.callback(handle.remove)
        stack.enter_context(watch.loaders())
        let_through(partial(train, *arguments))
    watch.course.drawn = watch.drawn(snapshot().states)
    return watch.course


class _Watch:
    """Records a training at each step."""

    def __init__(self) -> None:
        self.course = Course()
        self._looked = False
        self._batches: list[Batch] = []
        self._bound: set[tuple[str, int]] = set()
        self._used: dict[str, object] = {}
        self._names: dict[int, str] = {}
        self._seeds: list[tuple[bytes, bytes]] = []

    def forward(self, module: object, given: object) -> None:
        """Look before the first forward pass of a step."""
        if not self._looked:
            self._used.setdefault(type(module).__name__, module)
            self._look(given)

    def step(self, optimizer: object, _: object, __: object) -> None:
        """Look before a step that had no forward pass."""
        self._used.setdefault(type(optimizer).__name__, optimizer)
        if not self._looked:
            self._look(None)

    def stepped(self, optimizer: Any, _: object, __: object) -> None:  # torch's
        """Store the parameters after a step."""
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        self.course.after.append(
            {
                self._names.get(id(each), f"parameter {index}"): tensor_leaf(each)
                for index, each in enumerate(parameters)
            }
        )
        self._looked = False
        self._batches.clear()

    def _look(self, given: object) -> None:
        self._looked = True
        namespaces = self._namespaces()
        made = _bindings(namespaces) - self._bound if self._bound else ()
        finder = Finder()
        for namespace in [*namespaces, self._used]:
            finder.add_all(namespace)
        self._names |= finder.parameters
        found = find_generators(ChainMap(*map(dict, namespaces)))
        states = dict(snapshot().states)
        drawn = self.drawn(states)
        self._seeds.clear()
        self.course.looks.append(
            Look(
                components=finder.components,
                sources=states,
                generators={each.name: each.read() for each in found},
                data=_digest(given),
                batches=tuple(self._batches),
                made=frozenset(name for name, _ in made),
                drawn=drawn,
            )
        )

    def drawn(self, now: Mapping[str, bytes]) -> frozenset[str]:
        """Return the sources that were drawn from since the last look."""
        before = dict(self.course.looks[-1].sources) if self.course.looks else {}
        for begin, end in self._seeds:
            if before.get(_SEEDS) == begin:
                before[_SEEDS] = end
        return frozenset(name for name, state in now.items() if before.get(name) != state)

    def _namespaces(self) -> list[Mapping[str, object]]:
        """Return the namespaces of the training's functions, the outermost first."""
        frames = (frame for frame, _ in walk_stack(sys._getframe(1)))  # noqa: SLF001 -- the subject
        spaces: list[Mapping[str, object]] = []
        for each in [*takewhile(_is_of_training, frames)][::-1]:
            if not spaces or not is_installed_file(each.f_code.co_filename):
                names, reached = each.f_globals, each.f_code.co_names
                found = {name: names[name] for name in reached if name in names}
                spaces.append({**found, **each.f_locals})
        return spaces

    @contextmanager
    def loaders(self) -> Iterator[None]:
        """Record the batches of every data loader in the block."""
        from torch.utils.data import dataloader

        base: Any = dataloader._BaseDataLoaderIter  # noqa: SLF001 -- nothing public tells the indices
        originals = {
            name: vars(base)[name] for name in ("__init__", "_next_index", "__next__", "_reset")
        }
        begun: dict[int, _Iterator] = {}
        epochs = Counter[int]()

        def begin(iterator: Any, loader: Any) -> None:
            begun[id(iterator)] = _Iterator(loader, epochs[id(loader)])
            epochs[id(loader)] += 1

        def init(iterator: Any, loader: Any) -> None:
            begin(iterator, loader)
            before = snapshot().states[_SEEDS]
            originals["__init__"](iterator, loader)
            if not loader.num_workers:
                self._seeds.append((before, snapshot().states[_SEEDS]))

        def reset(iterator: Any, loader: Any, first_iter: bool = False) -> None:  # noqa: FBT001, FBT002
            if not first_iter:
                begin(iterator, loader)
            originals["_reset"](iterator, loader, first_iter)

        def next_index(iterator: Any) -> object:
            index = originals["_next_index"](iterator)
            begun[id(iterator)].asked.append(str(index))
            return index

        def next_(iterator: Any) -> object:
            self._bound = _bindings(self._namespaces())
            data = originals["__next__"](iterator)
            self._batches.append(begun[id(iterator)].give(data))
            return data

        with Replacements() as replaced:
            for name, ours in zip(originals, (init, next_index, next_, reset), strict=True):
                replaced.put(base, name, ours)
            yield


def _is_of_training(frame: FrameType) -> bool:
    """Return whether a frame belongs to the code that ``follow`` records."""
    return frame.f_globals is not let_through.__globals__


def _bindings(namespaces: list[Mapping[str, object]]) -> set[tuple[str, int]]:
    """Return the names in namespaces, each with the identity of its value."""
    return {(name, id(value)) for each in namespaces for name, value in each.items()}


def _digest(given: object) -> str:
    """Return the digest of the tensors and numbers in a module's input or a batch."""
    return xxh3_64_hexdigest(" ".join(leaf.content for leaf in flatten(given).values()).encode())


def _said(loader: Any) -> object:  # a DataLoader
    """Return the epoch that a loader's sampler got by ``set_epoch``, or None."""
    for sampler in (loader.sampler, loader.batch_sampler):
        if hasattr(sampler, "set_epoch") and hasattr(sampler, "epoch"):
            return sampler.epoch
    return None
