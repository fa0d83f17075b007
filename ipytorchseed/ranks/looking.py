"""Digests this process's sources, settings, parameters and named objects.

The result of this is called a look. A rank writes looks as lines of JSON.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct

from ipytorchseed.fingerprint import Budget, Fingerprint, fingerprint
from ipytorchseed.rng.distance import mark_of
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.seeds import own_rank, process_group
from ipytorchseed.rng.source import digest
from ipytorchseed.rng.table import sources
from ipytorchseed.session.settings import Settings

# The default folder for the ranks' files, relative to the working folder.
FOLDER = "ipytorchseed-ranks"

Count = Annotated[int, Meta(ge=0, le=1 << 53)]


class Mark(Struct, frozen=True, array_like=True):
    """A short form of the state of a source.

    Attributes:
        digest: The digest of the full state.
        position: The position in the random stream, from ``distance.mark_of``.
    """

    digest: str
    position: tuple[str, Count] | None = None


class Site(Struct, frozen=True, array_like=True):
    """A line of code that called a function that draws.

    Attributes:
        what: The function, or the part of torch that drew.
        file: The file of the line.
        line: The number of the line, from 1.
    """

    what: str
    file: str
    line: Count

    def __str__(self) -> str:
        *folders, name = self.file.replace("\\", "/").split("/")
        cell = self.file.startswith("<") or any(each.startswith("ipykernel_") for each in folders)
        return f"{self.what}, line {self.line} of {'the cell' if cell else name}"


class Rank(Struct, frozen=True, omit_defaults=True, tag="rank"):
    """One of the processes of a training run.

    Attributes:
        rank: The number of the process, from 0.
        world: The number of processes; None if unknown.
        launch: A text that is the same in all processes started together.
        host: The machine's name.
        started: When watching began, in seconds since 1970.
        every: The number of steps between two looks at parameters; 0 for a single look.
        synchronised: Whether DistributedDataParallel copies the buffers of rank 0 to all ranks.
        masks: Whether the model has active dropout layers.
    """

    rank: Count
    world: Count | None = None
    launch: str = ""
    host: str = ""
    started: float = 0.0
    every: Count = 0
    synchronised: bool = False
    masks: bool = False


class Look(Struct, omit_defaults=True, tag="look"):
    """The state of a rank after a step. Unchanged parts are left out.

    Attributes:
        step: The optimizer's step, from 1; 0 before the first step.
        marks: The short states of sources that changed.
        sites: The lines that drew in this step, each with its number of calls; None if they are the
            same as in the step before.
        states: Full states of sources, in some looks.
        values: Digests by group (``parameters``, ``buffers``, ``optimizer``) and by name in the
            group; None if no digests were taken.
        settings: Flags, versions and hardware; None if they are unchanged.
    """

    step: Count
    marks: dict[str, Mark] = {}
    sites: list[tuple[Site, Count]] | None = None
    states: dict[str, bytes] = {}
    values: dict[str, dict[str, str]] | None = None
    settings: dict[str, Any] | None = None


# Environment variables that have the same value in all processes of one launch.
_LAUNCH = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT")

# Settings that do not affect the numbers of a training run.
_OWN = ["folder", "warnings.filters", "sys.setrecursionlimit", "time.tzname", "PYTHONHASHSEED"]

# Classes of tensors that are sharded over ranks.
_SHARDED = frozenset({"DTensor", "FlatParameter"})

# Attributes of samplers that depend on the rank or the number of ranks.
_RANKED = frozenset({"rank", "num_replicas", "num_samples", "total_size", "process_index"})

# Marks of parts that are attributes or keys.
_MARKS = ("a:", "k:")

_DROPS = ("Dropout", "RReLU")


def describe(model: object = None, every: int = 0) -> Rank:
    """Describe this process as a rank.

    Args:
        model: The model, in the wrappers in which the user trains it; or None.
        every: The number of steps between two looks at the parameters.
    """
    world, group = os.environ.get("WORLD_SIZE", ""), process_group()
    modules = getattr(unwrap(model), "modules", lambda: ())()
    drops = [each for each in modules if type(each).__name__.startswith(_DROPS)]
    return Rank(
        rank=own_rank() or 0,
        world=group.get_world_size() if group else int(world) if world.isdecimal() else None,
        launch=" ".join(os.environ.get(name, "") for name in _LAUNCH).strip(),
        host=socket.gethostname(),
        started=time.time(),
        every=every,
        synchronised=_shares_buffers(model),
        masks=any(each.training and getattr(each, "p", 1) != 0 for each in drops),
    )


def _is_replica(model: object) -> bool:
    return type(model).__name__ == "DistributedDataParallel"


def _shares_buffers(model: Any) -> bool:
    """Return whether rank 0 broadcasts buffers in each forward pass."""
    if not _is_replica(model) or next(model.buffers(), None) is None:
        return False
    names = ("forward_sync_buffers", "broadcast_buffers")  # torch 2.13 renamed the attribute
    return any(vars(model).get(name) is True for name in names)


def unwrap(model: Any) -> Any:
    """Return a model without DistributedDataParallel and torch.compile."""
    name = "module" if _is_replica(model) else "_orig_mod"
    inner = getattr(model, name, None)
    return model if inner is None else unwrap(inner)


class Looker:
    """The readers of this process's sources, settings, tensors and objects.

    Args:
        model: Returns the model, or None.
        named: Further objects to digest, by name.
    """

    def __init__(self, model: Callable[[], Any], named: Mapping[str, Any]) -> None:
        self._model = model
        self._named = named
        self._settings = Settings()
        self._readers: dict[str, Callable[[], bytes | None]] = {}

    def look(self, step: int, *, whole: bool = True) -> Look:
        """Return a look at this process.

        Args:
            step: The current step of the optimizer.
            whole: Whether to digest everything. Otherwise, only the sources and generators of the
                last whole look are read.
        """
        if whole:
            own = [each for each in sources() if _is_own(each.name)]
            self._readers = {own_name(each.name): each.read for each in own}
            self._readers |= {each.name: each.read for each in find_generators(self._named)}
        read = {name: reader() for name, reader in self._readers.items()}
        states = {name: state for name, state in read.items() if state is not None}
        marks = {name: Mark(digest(state), mark_of(state)) for name, state in states.items()}
        look = Look(step, marks, states=states)
        if whole:
            settings = self._settings.read("").items()
            look.settings = {name: value for name, value in settings if name not in _OWN}
            look.values = self.values()
        return look

    def values(self) -> dict[str, dict[str, str]]:
        """Return digests of the model's tensors and of parts of the named objects.

        Returns:
            Digests by group (``parameters``, ``buffers``, or an object's name), then by part.
        """
        found, names = dict[str, dict[str, str]](), dict[int, str]()
        model = unwrap(self._model())
        if hasattr(model, "named_parameters"):
            parameters = [*model.named_parameters()]
            names = {id(each): name for name, each in parameters}
            found["parameters"] = dict(self._tensors(parameters))
            found["buffers"] = dict(self._tensors(model.named_buffers()))
        parts = {name: dict(self._parts(value, names)) for name, value in self._named.items()}
        return found | parts

    def _tensors(self, items: Any) -> Iterator[tuple[str, str]]:
        for name, tensor in items:
            if type(tensor).__name__ not in _SHARDED:
                yield name, _whole(tensor.detach()).digest  # ignores the gradient

    def _parts(self, value: Any, names: Mapping[int, str]) -> Iterator[tuple[str, str]]:
        """Yield digests of an object's parts, except parts that depend on the rank."""
        inner = getattr(value, "optimizer", None)  # accelerate's wrapper has this attribute
        value = inner if hasattr(inner, "param_groups") else value
        if hasattr(value, "param_groups"):
            yield from self._optimizer(value, names)
        elif hasattr(value, "batch_sampler") or hasattr(value, "sampler"):
            for place in ("batch_size", "num_workers", "drop_last"):
                yield place, repr(getattr(value, place, None))
            batches = getattr(value, "batch_sampler", None)
            sampler = getattr(batches, "sampler", None) or getattr(value, "sampler", None)
            yield from self._scalars(sampler, "sampler.")
        elif hasattr(value, "set_epoch"):
            yield from self._scalars(value, "")
        elif not find_generators({"it": value}) or hasattr(value, "__dict__"):
            found = _whole(value)
            for part, each in found.parts.items():
                yield part[2:] if part.startswith(_MARKS) else part, each
            yield "content", found.digest

    def _scalars(self, value: object, prefix: str) -> Iterator[tuple[str, str]]:
        yield f"{prefix}class", type(value).__name__
        for name, item in getattr(value, "__dict__", {}).items():
            if _plain(item) and name not in _RANKED:
                yield f"{prefix}{name}", _plain(item)

    def _optimizer(self, optimizer: Any, names: Mapping[int, str]) -> Iterator[tuple[str, str]]:
        for number, group in enumerate(optimizer.param_groups):
            prefix = f"group {number} " if len(optimizer.param_groups) > 1 else ""
            for name, item in group.items():
                if name != "params":
                    yield f"{prefix}{name}", _plain(item) or _whole(item).digest
            for place, parameter in enumerate(group["params"]):
                called = names.get(id(parameter), f"parameter {place}")
                for name, item in optimizer.state.get(parameter, {}).items():
                    yield f"{prefix}{called} {name}", _whole(item).digest


def own_name(source: str) -> str:
    """Return the name of a source without its device index, as it differs by rank."""
    return source.partition(":")[0] if source.startswith("torch.") else source


def _is_own(source: str) -> bool:
    """Return whether a source belongs to this rank, not to a device of another rank."""
    kind, _, index = source.removeprefix("torch.").partition(":")
    if not source.startswith("torch.") or not index:
        return True
    return bool(int(index) == getattr(sys.modules["torch"], kind).current_device())


def _plain(value: object) -> str:
    """Return a number, boolean or string as text; "" for anything else."""
    return repr(value) if type(value) in {bool, int, float, str} else ""


def _whole(value: object) -> Fingerprint:
    """Fingerprint a value without a time limit."""
    return fingerprint(value, budget=Budget(seconds=float("inf")))


def take(model: object = None, named: Mapping[str, Any] | None = None) -> tuple[Rank, Look]:
    """Return a description of this process and one look at it.

    ``%rng --ranks`` also runs this function in the engines of a cluster.
    """
    return describe(model), Looker(lambda: model, named or {}).look(0)
