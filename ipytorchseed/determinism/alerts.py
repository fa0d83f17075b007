"""torch's alerts about operations without a deterministic algorithm.

In strict mode torch raises an error. We add a note that names the operation, the line, and what to
use instead. In warn-only mode torch warns. Python would drop repeated warnings of the same line;
our filter lets all of them through, so that they can be counted.

The docstring of ``torch.use_deterministic_algorithms`` has two lists, which change with each
release: operations that then use a deterministic algorithm, and operations that raise because they
have none. The tables here contain the lists of the releases up to 2.15.
"""

from __future__ import annotations

import linecache
import re
import sys
import warnings
from collections import Counter, deque
from collections.abc import Callable
from itertools import takewhile
from traceback import walk_stack, walk_tb
from types import FrameType
from typing import Any

from msgspec import Struct

from ipytorchseed.patterns import lazy_pattern

Place = tuple[FrameType, int]
PickPlace = Callable[[list[Place]], Place | None]

_UNDETERMINED = "does not have a deterministic implementation"
_ATTENTION = "defaults to a non-deterministic algorithm"  # a warning only: strict mode avoids it
_CUBLAS = "not deterministic because it uses CuBLAS"
# Names have spaces; other errors quote alerts ("RuntimeError: put_ does").
_OPERATION = lazy_pattern(
    r"(?:^|: |[('\"])([\w.]{1,99}(?:::\w{1,99}){0,9}(?: [\w='\"]{1,99}){0,9})"
    rf" (?:{_UNDETERMINED}|{_ATTENTION})",
    re.MULTILINE,
)
# Functions of torch that start a backward pass.
_ENGINE = frozenset({"_engine_run_backward", "run_backward"})

# The last alerts of this process, the latest last.
recent: deque[Alert] = deque(maxlen=20)

_FILTER = rf"[\s\S]*({_UNDETERMINED}|{_ATTENTION}|{_CUBLAS})"


class Alert(Struct, frozen=True):
    """The alerts of one operation from one line.

    Attributes:
        operation: The operation's name in torch: ``put_``.
        line: The line of the cell or file, from 1; None if no frame of the user called it.
        code: The text of the forward line if it is known, else of ``line``.
        forward: The line of the forward operation, for an alert in a backward pass; None if there
            is no such line, or if the pass was not watched.
        count: The number of alerts.
    """

    operation: str
    line: int | None
    code: str
    forward: int | None = None
    count: int = 1

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}, "
        if self.forward is not None:
            place = f"backward of line {self.forward}, "
        often = "once" if self.count == 1 else f"{self.count} times"
        return f"{self.operation} ({place}{often})"

    @property
    def instead(self) -> str:
        """What to use instead."""
        return find_advice(self.operation) or UNLISTED


def operation_in(message: str) -> str | None:
    """Return the operation that an alert names; None if the text is not an alert."""
    if _CUBLAS in message:
        return "cuBLAS"
    named = _OPERATION.search(message)
    return named and named.group(1)


class AlertCollector:
    """A counter of warn-only alerts, which hides them while it is active.

    Args:
        pick: Chooses the line of the cell or script to name, from frames and their lines, innermost
            first.
        forward: Returns the line of the forward operation during a backward pass.
    """

    def __init__(self, pick: PickPlace, forward: Callable[[], int | None] = lambda: None) -> None:
        self._pick = pick
        self._forward = forward
        self._counts: Counter[tuple[str, int | None, str, int | None]] = Counter()
        self._entry: Any = None  # our filter, while counting
        self._shown: Any = None

    def take(self) -> list[Alert]:
        """Return the alerts so far in the order of first appearance, and forget them."""
        alerts = [Alert(*key, count) for key, count in self._counts.items()]
        recent.extend(alerts)
        self._counts.clear()
        return alerts

    def start(self) -> None:
        """Add a filter that lets all alerts through, and count them."""
        # Python stores equal filters once. A comment makes ours unique, so that ``stop`` removes
        # no other filter.
        warnings.filterwarnings("always", message=_FILTER, module=f"(?#{id(self)})")
        self._entry = warnings.filters[0]
        self._shown = warnings.showwarning
        warnings.showwarning = self._show

    def stop(self) -> None:
        """Stop counting; keep filters and hooks that others have set since."""
        if self._entry in warnings.filters:
            warnings.filters.remove(self._entry)  # type: ignore[attr-defined]
        self._entry = None  # others may have kept our hook, and call or restore it
        if warnings.showwarning == self._show:
            warnings.showwarning = self._shown

    def _show(self, message: Warning | str, *args: Any, **kwargs: Any) -> None:
        operation = operation_in(str(message)) if self._entry else None
        if operation is None:
            self._shown(message, *args, **kwargs)
            return
        stack = [*walk_stack(sys._getframe(1))]  # noqa: SLF001 -- the documented way to it
        place = self._pick(stack)
        line = None if place is None else place[1]
        forward = self._forward() if _is_called_by_engine(stack, place) else None
        code = "" if place is None else _text_of(place[0], forward or place[1])
        self._counts[operation, line, code, forward] += 1


def note_alert(error: BaseException, pick: PickPlace) -> str | None:
    """Add a note to an error that torch raised for lack of a deterministic algorithm.

    Args:
        error: Any error; one that is not an alert stays unchanged.
        pick: Chooses the place to name, as for ``AlertCollector``.

    Returns:
        The note, or None if the error is not an alert or already has its note.
    """
    operation = operation_in(str(error)) if isinstance(error, RuntimeError) else None
    if operation is None or any("--warn" in note for note in getattr(error, "__notes__", ())):
        return None
    stack = [*walk_tb(error.__traceback__)][::-1]
    place, at = pick(stack), ""
    if place is not None:
        at = f" (line {place[1]})"
        if "backward" in operation or _is_called_by_engine(stack, place):
            at = f", in the backward pass called on line {place[1]},"
    note = (
        f"{operation}{at} has no deterministic algorithm.\n"
        f"instead: {find_advice(operation) or UNLISTED}\n"
        "or let it pass and list such operations: %%deterministic --warn"
    )
    error.add_note(note)
    return note


def _is_called_by_engine(stack: list[Place], place: Place | None) -> bool:
    """Return whether a place started a backward pass.

    The stack is given with the innermost frame first.
    """
    # A frame inside the place may be a backward function of the user, which the pass called.
    inner = takewhile(lambda each: place is None or each[0] is not place[0], stack)
    return any(frame.f_code.co_name in _ENGINE for frame, _ in inner)


def _text_of(frame: FrameType, number: int) -> str:
    return linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()


def innermost_in(filename: str) -> PickPlace:
    """Return a function that picks the innermost place in a file."""
    return lambda stack: next((it for it in stack if it[0].f_code.co_filename == filename), None)


# --------------------------------------------------------------------------------------------------
# What to use instead

_ON_CPU = "do this step on the CPU, x.cpu(), where it repeats"

# Patterns that match the name of an operation in torch's error, and what to use instead.
ADVICE: dict[str, str] = {
    r"^avg_pool3d": "conv3d with a constant kernel and groups=channels; convolutions repeat",
    r"^adaptive_avg_pool2d":
        "x.mean((-2, -1)) for output size 1, else AvgPool2d with a fixed kernel",
    r"^adaptive_avg_pool3d":
        "x.mean((-3, -2, -1)) for output size 1, else conv3d with a constant kernel",
    r"^adaptive_max_pool2d":
        "x.amax((-2, -1)) for output size 1, else MaxPool2d with a fixed kernel",
    r"^fractional_max_pool2d": "MaxPool2d",
    r"^fractional_max_pool3d": "MaxPool3d",
    r"^max_unpool":
        "zeros(N, C, size).scatter(2, indices.flatten(2), x.flatten(2)); scatter repeats",
    r"^upsample_": 'interpolate(mode="nearest"), or ConvTranspose2d with fixed weights',
    r"^reflection_pad": 'pad(mode="replicate"), or index the mirrored positions: x[..., index]',
    r"^nll_loss":
        "the loss of flattened pixels: cross_entropy(x.movedim(1, -1).flatten(0, -2), y.flatten())",
    r"^(cudnn_)?ctc_loss": _ON_CPU,
    r"^embedding_bag": 'mode="sum" or "mean", or Embedding followed by amax(1)',
    r"^put_": "x.view(-1)[index] = values, if x is contiguous",
    r"^histc": _ON_CPU,
    r"^bincount": "zeros(n).index_add(0, x, weights); index_add repeats",
    r"^median": "x.sort(stable=True) and take the middle one",
    r"^(cudnn_)?grid_sampler": _ON_CPU,
    r"^cumsum": _ON_CPU,
    r"^scatter_reduce":
        'exp of reduce="sum" of the logarithms for a product of positive numbers, else do this'
        " step on the CPU",
    r"^quantized_resize": "make a new quantized tensor of that size",
    r"^kthvalue": "x.sort(stable=True) and take the k-th",
    r" [Aa]ttention$": "leave out --warn: without it torch uses an algorithm that repeats",
    r"^cuBLAS$": "start Jupyter with CUBLAS_WORKSPACE_CONFIG=:4096:8",
}  # fmt: skip

UNLISTED = "do this step on the CPU if it repeats there"


def find_advice(operation: str) -> str | None:
    """Return what to use instead of an operation, named as in torch's error or aten."""
    name = operation.lstrip("_")
    return next((instead for kernel, instead in ADVICE.items() if re.search(kernel, name)), None)


# Names in aten of operations that have a deterministic and a nondeterministic algorithm.
_SWITCHES = lazy_pattern(
    r"^((cudnn_|_slow_|slow_)?conv|replication_pad\dd_backward|bmm|_?(unsafe_)?index_put|put"
    r"|scatter_add|index_add|index_select_backward|repeat_interleave|index_copy|scatter_?$"
    r"|scatter_reduce|max_pool3d_with_indices_backward)"
)

# Names in aten, with the release of torch that added a deterministic algorithm.
SWITCHES_SINCE = {"cumsum": "2.14", "embedding_dense_backward": "2.14"}


def has_other_algorithm(operation: str) -> bool:
    """Return whether an operation also has a deterministic algorithm.

    Args:
        operation: The operation's name in aten, such as ``index_put_``.
    """
    import torch

    since = SWITCHES_SINCE.get(operation.strip("_"))
    return bool(torch.__version__ >= since if since else _SWITCHES.match(operation))
