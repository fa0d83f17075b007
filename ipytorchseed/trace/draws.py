"""Who drew random numbers: torch by operation, others by line of the cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from traceback import walk_stack
from types import FrameType
from typing import Any

from msgspec import Struct
from xxhash import xxh3_64_intdigest

from ipytorchseed.rng import torch_random
from ipytorchseed.rng.distance import draws_between
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.position import BOUND
from ipytorchseed.rng.table import sources
from ipytorchseed.trace.format import Place
from ipytorchseed.trace.operations import Overload
from ipytorchseed.trace.places import Lines

# Files of torch that draw for the user, and their names.
_ASKERS = (
    ("torch/utils/data/dataloader.py", "DataLoader"),
    ("torch/utils/data/sampler.py", "DataLoader's sampler"),
    ("torch/utils/data/dataset.py", "random_split"),
    ("torch/nn/init.py", "torch.nn.init"),
)


class Drawn(Struct):
    """What one operation at one place drew from one source.

    Attributes:
        operation: torch's name, ``aten::bernoulli_``.
        place: Its place in the code.
        source: The source or generator.
        by: The part of torch that drew, if it was not a module of the user: ``DataLoader``.
        calls: The number of calls.
        numbers: The number of raw numbers in all; None if they cannot be counted.
    """

    operation: str
    place: Place
    source: str
    by: str = ""
    calls: int = 0
    numbers: int | None = 0

    def add(self, numbers: int | None) -> None:
        """Count one more draw of so many numbers."""
        self.calls += 1
        self.numbers = None if numbers is None or self.numbers is None else self.numbers + numbers


class Draws:
    """Records what each drawing operation takes from which generator.

    Args:
        names: The user's namespace, in which generators have their names.
        count: Whether to count the numbers, which takes some time for each draw.

    Attributes:
        all: What was drawn, in the order of the first draws.
    """

    def __init__(self, names: Mapping[str, Any], *, count: bool) -> None:
        self._names = names
        self._count = count
        # the generator too, so that it keeps its address
        self._called: dict[int, tuple[Any, str]] = {}
        self._drawn: dict[tuple[str, Place, str, str], Drawn] = {}
        self._generator: Any = None
        self._before = b""

    @property
    def all(self) -> list[Drawn]:
        """The draws."""
        return [*self._drawn.values()]

    def before(self, args: tuple[Any, ...], given: Mapping[str, Any]) -> int:
        """Return the digest of the generator that an operation is about to draw from."""
        self._generator = _generator_of(args, given)
        self._before = b"" if self._generator is None else torch_random.read(self._generator)
        return xxh3_64_intdigest(self._before)

    def after(
        self, operation: Overload, place: Place, lines: Lines, frame: FrameType | None
    ) -> None:
        """Record what it drew; the frame is its caller's, if Python code called it."""
        if self._generator is None:
            return
        now = torch_random.read(self._generator)
        if now == self._before:  # such as dropout in evaluation mode
            return
        by = "" if place.module else asker(lines.between(frame))
        source = self._name(self._generator)
        key = operation.name, place, source, by
        drawn = self._drawn.setdefault(key, Drawn(operation.name, place, source, by))
        drawn.add(draws_between(self._before, now, BOUND) if self._count else None)

    def _name(self, generator: Any) -> str:  # torch.Generator
        number = generator._cdata  # noqa: SLF001 -- each operation is given another object for it
        known = self._called.get(number)
        if known is None:
            mine = {found.name: found.object for found in find_generators(self._names)}
            every = (torch_random.default_generators() | mine).items()
            names = [name for name, each in every if getattr(each, "_cdata", None) == number]
            name = names[0] if names else "(torch.Generator)"
            known = self._called[number] = generator, name
        return known[1]


def _generator_of(args: tuple[Any, ...], given: Mapping[str, Any]) -> Any:
    """Return the generator that an operation draws from; None if its device has none."""
    import torch

    device: Any = None
    for value in (*given.values(), *args):
        if isinstance(value, torch.Generator):
            return value
        if device is None:
            if isinstance(value, torch.Tensor):
                device = value.device
            elif isinstance(value, torch.device):
                device = value
    if device is None or device.type == "cpu":
        return torch.default_generator
    if device.type == "cuda" and torch.cuda.is_initialized():
        index = torch.cuda.current_device() if device.index is None else device.index
        return torch.cuda.default_generators[index]
    return None


def asker(files: list[str]) -> str:
    """Return the part of torch that draws for the user, by the files on the stack."""
    for file in files:
        tail = file.replace("\\", "/")
        for end, name in _ASKERS:
            if tail.endswith(end):
                return name
    return ""


_LOOKED_AT = frozenset({"python", "numpy"})


class LineDraws:
    """Records which lines of a cell draw from python's and numpy's own sources.

    Args:
        file: The name under which the cell was compiled.

    Attributes:
        drawn: What was drawn, in the order of the first draws.
        refused: Whether a debugger is active, with which this would interfere.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._line = 0
        self._drawn: dict[tuple[str, int], Drawn] = {}
        self._reads: dict[str, Callable[[], bytes | None]] = {}
        self._states: dict[str, bytes | None] = {}
        self.refused = False

    @property
    def drawn(self) -> list[Drawn]:
        """The draws."""
        return [*self._drawn.values()]

    def attach(self, frame: FrameType) -> None:
        """Start in this thread, with the active frames of the cell."""
        if sys.gettrace() is not None:
            self.refused = True
            return
        self._reads = {each.name: each.read for each in sources() if each.name in _LOOKED_AT}
        self._states = {name: read() for name, read in self._reads.items()}
        for each, line in walk_stack(frame):
            if each.f_code.co_filename == self._file:
                self._line = self._line or line or 0
                each.f_trace = self._in_cell
        sys.settrace(self._called)

    def detach(self) -> None:
        """Stop, and attribute the last line."""
        if not self.refused and sys.gettrace() == self._called:
            sys.settrace(None)
            self._look()

    def _called(self, frame: FrameType, event: str, argument: object) -> Any:  # noqa: ARG002
        return self._in_cell if frame.f_code.co_filename == self._file else None

    def _in_cell(self, frame: FrameType, event: str, argument: object) -> Any:  # noqa: ARG002
        self._look()
        self._line = frame.f_lineno or 0
        return self._in_cell

    def _look(self) -> None:
        """Attribute what was drawn since the last look to the line that ran since then."""
        for name, read in self._reads.items():
            now, before = read(), self._states[name]
            if now == before:
                continue
            self._states[name] = now
            place = Place(line=self._line)
            key = name, self._line
            drawn = self._drawn.setdefault(key, Drawn(f"{name}'s own", place, name))
            drawn.add(draws_between(before, now) if before and now else None)
