"""Traces the runs of a check to find the first operation that differs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ipytorchseed.determinism.alerts import find_advice, has_other_algorithm
from ipytorchseed.experiment.repeating import Outcome, RepeatedCell, find_differences
from ipytorchseed.experiment.verdict import Checked, Culprit, Entry
from ipytorchseed.reads.entropy import is_program, sentence
from ipytorchseed.trace.compiled import COMPILED
from ipytorchseed.why.words import many

if TYPE_CHECKING:
    from ipytorchseed.trace.comparing import Comparison
    from ipytorchseed.trace.comparison import Operation
    from ipytorchseed.trace.loading import Loaded
    from ipytorchseed.trace.recorder import Recorder

    _Traces = tuple[Outcome, Loaded | None, Recorder | None]

# The maximum number of traced runs to compare with the first traced run.
_ATTEMPTS = 4

# Each run fills uninitialized memory with a different multiple of this byte.
_FILL = 0x35

# What a trace cannot see in a cell that uses compiled code.
_COMPILED = "operations inside torch.compile's regions are not seen, only what goes in and out"

# What to use instead of uninitialized memory.
_ZEROS = "torch.zeros, or write the whole tensor before it is read"

# What may differ if hashes differ.
_SETS = "it may use the order of a set, which depends on addresses for most objects"

# Packages that run code in varying order.
_CONCURRENT = frozenset({"asyncio", "concurrent", "joblib", "multiprocessing", "threading"})


def trace_difference(cell: RepeatedCell, second: Outcome, found: Checked) -> None:
    """Trace a cell whose runs differ, and find the origin of the difference.

    Args:
        cell: The cell.
        second: The outcome of the first run on copies.
        found: The result of the check. The origin is added to it.
    """
    from ipytorchseed.trace.comparing import compare

    first, trace, recorder = _traced(cell, "a traced run", _FILL)
    compared, differ, outcomes = None, False, [first]
    for attempt in range(1, _ATTEMPTS + 1):
        what = f"a traced run to compare, {attempt} of at most {_ATTEMPTS}"
        outcome, other, recorder = _traced(cell, what, (attempt + 1) * _FILL)
        outcomes.append(outcome)
        if trace is not None and other is not None:
            compared = compare(trace, other)
        differ = bool(find_differences(first, outcome))
        if differ or not (compared is None or compared.equal):
            break
    found.first_only = not any(find_differences(second, each) for each in outcomes)
    if recorder is not None:
        found.operations = recorder.count
        found.notes += tuple(recorder.notes)
    if compared is not None:
        _judge(cell, found, compared)
    if found.culprit is None or found.entry is not None:
        threads = 0 if recorder is None else recorder.threads - 1
        found.suspects = tuple(_suspects(cell, first, outcomes[-1], threads))
        # all operations are equal, so the difference may come from timing
        if differ and not found.suspects:
            found.suspects = tuple(map(sentence, sorted(cell.dependencies.timing)))


def _traced(cell: RepeatedCell, what: str, fill: int) -> _Traces:
    """Run the cell, and record its operations if torch is imported."""
    cell.progress(what)
    if not hasattr(sys.modules.get("torch"), "nn"):
        return cell.again(), None, None
    from ipytorchseed.trace.draws import Draws
    from ipytorchseed.trace.file import Trace
    from ipytorchseed.trace.recorder import Recorder

    trace, draws = Trace(), Draws(cell.namespace, count=False)
    recorder = Recorder(cell.lines, cell.namespace, draws=draws, fill=fill, trace=trace)
    return cell.again(recorder), trace.load(), recorder


def _judge(cell: RepeatedCell, found: Checked, compared: Comparison) -> None:
    """Add the operations that the comparison found to the result."""
    first, operation = compared.first, compared.operation
    if first is not None and first.outside:
        found.entry = Entry(first.shown.name, first.shown.place.line or None, draws=first.draws)
    if first is not None and first.source is not None:
        read = {"unwritten": True, "read_by": (first.shown.name, first.shown.place.line)}
        found.culprit = _culprit(cell, first.source, **read, instead=_ZEROS, known="switches")
    elif operation is not None:
        found.culprit = _culprit(cell, operation.shown)
    if any(call.place.module.endswith(COMPILED) for call in compared.b.calls):
        found.notes += (_COMPILED,)


def _suspects(cell: RepeatedCell, first: Outcome, last: Outcome, threads: int) -> list[str]:
    """Return clauses about what can explain a difference that no operation caused."""
    dependencies = cell.dependencies
    asks = sorted(dependencies.nondeterministic_calls - dependencies.timing)
    said = [sentence(name) for name in asks if not is_program(name)]
    uses = ", ".join(sorted(dependencies.packages & _CONCURRENT))
    threads *= not any(map(is_program, asks))  # IPython reads a program's output in a thread
    if threads > 0 or uses:
        own = f"computed in {many(threads, 'thread')} that it started"
        how = own if threads > 0 else f"uses {uses}"
        said.append(f"it {how}: their order varies from run to run")
    if dependencies.hashes:
        said.append(_SETS)
    differences = find_differences(first, last)
    left = [each.name for each in differences if each.what == "source"]
    if left and not said:
        said.append(f"{left[0]} differs afterwards: the two runs drew different amounts from it")
    said += [sentence(name) for name in asks if is_program(name)]
    loader: Any = getattr(sys.modules.get("torch.utils.data"), "DataLoader", ())
    for name in cell.engine.copied:
        value: Any = cell.namespace.get(name)
        if issubclass(type(value), loader) and value.num_workers > 0:
            said.append(f"{name} loads data in worker processes, whose operations are not seen")
    return said


def _culprit(cell: RepeatedCell, shown: Operation, **others: Any) -> Culprit:
    """Describe an operation: its place in the cell, and torch's documentation of it."""
    short = shown.name.rpartition("::")[2]
    advice = find_advice(short)
    known = "" if advice is None else "raises"
    known = "switches" if has_other_algorithm(short) else known
    place = shown.place
    where = place.line or None, cell.line(place.line), shown.index, place.module, place.backward
    return Culprit(shown.name, *where, **{"instead": advice or "", "known": known, **others})
