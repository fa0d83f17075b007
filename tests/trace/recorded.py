"""Code run under a recorder, like a cell, and operations that do not repeat."""

from __future__ import annotations

import linecache
from typing import Any, NamedTuple

import torch

from ipytorchseed.trace.draws import Draws
from ipytorchseed.trace.file import Trace
from ipytorchseed.trace.places import Lines
from ipytorchseed.trace.recorder import Recorder

FILE = "<a cell that is recorded>"


@torch.library.custom_op("ipytorchseed_tests::drift", mutates_args=())
def drift(x: torch.Tensor) -> torch.Tensor:
    """Return a different result each time."""
    hidden = vars(linecache)  # state that is not recorded or restored
    hidden["calls_of_drift"] = hidden.get("calls_of_drift", 0) + 1
    return x + hidden["calls_of_drift"]


@drift.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


class Seen(NamedTuple):
    """One recorded operation."""

    operation: str
    line: int
    module: str
    backward: bool


def record(source: str, names: dict[str, Any] | None = None, **options):
    """Run code under a recorder; return the recorder."""
    names = {"torch": torch, "drift": drift} if names is None else names
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    recorder = Recorder(
        Lines(FILE, names),
        names,
        draws=Draws(names, count=options.pop("count", False)),
        trace=Trace(),
        **options,
    )
    with recorder:
        exec(compile(source, FILE, "exec"), names)  # noqa: S102 -- code in place of a cell
    return recorder


def seen(recorder, thread=0) -> list[Seen]:
    """Return a thread's operations, without those that compute nothing."""
    trace = recorder.trace.load()
    found = [trace.operation(int(at)) for at in (trace.threads == thread).nonzero()[0]]
    return [
        Seen(each.name.removeprefix("aten::"), each.place.line, *each.place[3:]) for each in found
    ]
