"""Records draws: by operation for torch, by line of the cell for other sources."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from traceback import walk_stack
from types import FrameType
from typing import Any

from msgspec import Struct
from xxhash import xxh3_64_intdigest

from ipytorchseed.rng import torch_random
from ipytorchseed.rng.distance import draws_between
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.rng.position import BOUND
from ipytorchseed.rng.source import Source
from ipytorchseed.rng.table import sources
from ipytorchseed.trace.format import Place
from ipytorchseed.trace.operations import Overload
from ipytorchseed.trace.places import Lines

# Files of torch that draw for the user, and the names that messages give them.
_ASKERS = (
    ("torch/utils/data/dataloader.py", "DataLoader"),
    ("torch/utils/data/sampler.py", "DataLoader's sampler"),
    ("torch/utils/data/dataset.py", "random_split"),
    ("torch/nn/init.py", "torch.nn.init"),
)


class Drawn(Struct):
    """The draws of one operation, at one place, from one source.

    Attributes:
        operation: The operation's name in torch, ``aten::bernoulli_``.
        place: The place in the code.
        source: The source or generator.
        by: The part of torch that drew for the user, such as ``DataLoader``; else "".
        calls: The number of calls.
        numbers: The total of raw numbers; None if they cannot be counted.
    """

    operation: str
    place: Place
    source: str
    by: str = ""
    calls: int = 0
    numbers: int | None = 0


class _Tally:
    """A count of draws by operation, place and source."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[str, Place, str, str], Drawn] = {}

    @property
    def drawn(self) -> list[Drawn]:
        """The draws, in the order of their first calls."""
        return [*self._drawn.values()]

    def _add(self, numbers: int | None, *key: Any) -> None:
        """Count one more call.

        Args:
            numbers: How many raw numbers it drew; None if unknown.
            key: The operation, the place, the source, and what drew for the user.
        """
        drawn = self._drawn.setdefault(key, Drawn(*key))
        drawn.calls += 1
        known = numbers is not None and drawn.numbers is not None
        drawn.numbers = (drawn.numbers or 0) + (numbers or 0) if known else None


class Draws(_Tally):
    """The operations that draw, with their generators.

    Args:
        names: The user's namespace, for the names of generators.
        count: Whether to count the drawn numbers, which takes some time for each draw.
    """

    def __init__(self, names: Mapping[str, Any], *, count: bool) -> None:
        super().__init__()
        self._names = names
        self._count = count
        # The name of each generator, by its address. Each is kept alive, so that no address is
        # reused.
        self._called: dict[int, tuple[Any, str]] = {}
        self._generator: Any = None
        self._before = b""

    def before(self, args: tuple[Any, ...], given: Mapping[str, Any]) -> int:
        """Return the digest of the generator from which an operation is about to draw."""
        self._generator = _generator_of(args, given)
        self._before = b"" if self._generator is None else torch_random.read(self._generator)
        return xxh3_64_intdigest(self._before)

    def after(
        self, operation: Overload, place: Place, lines: Lines, frame: FrameType | None
    ) -> None:
        """Record the draws of the operation that ``before`` was called for.

        Args:
            operation: The operation.
            place: The place in the code.
            lines: Finds the user's frames.
            frame: The frame that called the operation, if Python code did.
        """
        if self._generator is None:
            return
        now = torch_random.read(self._generator)
        if now == self._before:  # such as dropout in evaluation mode
            return
        by = "" if place.module else asker(lines.between(frame))
        numbers = draws_between(self._before, now, BOUND) if self._count else None
        self._add(numbers, operation.name, place, self._name(self._generator), by)

    def _name(self, generator: Any) -> str:  # torch.Generator
        # Each operation receives a new Python object for the same generator.
        number = generator._cdata  # noqa: SLF001
        known = self._called.get(number)
        if known is None:
            mine = {found.name: found.object for found in find_generators(self._names)}
            every = (torch_random.default_generators() | mine).items()
            names = (name for name, each in every if getattr(each, "_cdata", None) == number)
            known = self._called[number] = generator, next(names, "(torch.Generator)")
        return known[1]


def _generator_of(args: tuple[Any, ...], given: Mapping[str, Any]) -> Any:
    """Return the generator that an operation draws from; None if its device has none."""
    import torch

    device: Any = None
    for value in (*given.values(), *args):
        if isinstance(value, torch.Generator):
            return value
        if device is None and isinstance(value, (torch.Tensor, torch.device)):
            device = value if isinstance(value, torch.device) else value.device
    if device is None or device.type == "cpu":
        return torch.default_generator
    if device.type == "cuda" and torch.cuda.is_initialized():
        index = torch.cuda.current_device() if device.index is None else device.index
        return torch.cuda.default_generators[index]
    return None


def asker(files: list[str]) -> str:
    """Return the part of torch that draws for the user, by the files on the stack."""
    tails = [file.replace("\\", "/") for file in files]
    found = (name for tail in tails for end, name in _ASKERS if tail.endswith(end))
    return next(found, "")


class LineDraws(_Tally):
    """The lines of a cell that draw from the sources of python and numpy.

    Args:
        file: The name under which the cell was compiled.

    Attributes:
        refused: Whether nothing was recorded, because a debugger is active.
    """

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file
        self._line = 0
        self._states: dict[Source, bytes | None] = {}
        self.refused = False

    def attach(self, frame: FrameType) -> None:
        """Start recording in this thread, also in active frames of the cell."""
        if sys.gettrace() is not None:
            self.refused = True
            return
        self._states = {it: it.read() for it in sources() if it.name in ("python", "numpy")}
        for each, line in walk_stack(frame):
            if each.f_code.co_filename == self._file:
                self._line = self._line or line or 0
                each.f_trace = self._in_cell
        sys.settrace(self._called)

    def detach(self) -> None:
        """Stop recording, after recording the draws of the last line."""
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
        """Record draws since the previous look for the line that ran since then."""
        for source, before in [*self._states.items()]:
            now = source.read()
            if now != before:
                self._states[source] = now
                numbers = draws_between(before, now) if before and now else None
                self._add(numbers, f"{source.name}'s own", Place(line=self._line), source.name, "")
