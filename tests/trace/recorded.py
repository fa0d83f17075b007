"""Code run under a recorder, like a cell, and operations that do not repeat."""

from __future__ import annotations

import linecache
from typing import Any, NamedTuple

import torch

from ipytorchseed.trace.draws import Draws
from ipytorchseed.trace.places import Lines
from ipytorchseed.trace.recorder import Recorder
from ipytorchseed.trace.recording import Tables

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


def record(
    source: str, names: dict[str, Any] | None = None, tables: Tables | None = None, **options
):
    """Run code under a recorder; return its recording."""
    names = {"torch": torch, "drift": drift} if names is None else names
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    recorder = Recorder(
        tables or Tables(),
        Lines(FILE, names),
        names,
        draws=Draws(names, count=options.pop("count", False)),
        **options,
    )
    with recorder:
        exec(compile(source, FILE, "exec"), names)  # noqa: S102 -- code in place of a cell
    return recorder.recording


def seen(recording, thread=0) -> list[Seen]:
    """Return a thread's operations, without torch's bookkeeping."""
    tables, rows = recording.tables, recording.threads[thread]
    return [
        Seen(tables.operations.all[number].name.removeprefix("aten::"), *tables.places.all[place])
        for number, place in zip(rows.operations, rows.places, strict=True)
    ]
